package rolecall_SUFFIX;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import rolecall.Values;

/** What the calls in place of assertions lead to. */
public final class Judge {
    private static final Set<String> OWN = Set.of(OWN_TYPES);
    private static final boolean MESSAGE_LAST = MESSAGE_IS_LAST;

    private static Consumer<String> say;
    private static boolean[] decided;
    private static int canary;
    private static int reports;
    private static boolean[] begun;

    private Judge() {}

    public static void start(Consumer<String> channel, boolean[] mask, int chosen) {
        if (say != null) throw new IllegalStateException();
        say = channel;
        decided = mask;
        begun = new boolean[mask.length];
        canary = chosen;
    }

    public static String[] tests() {
        return new String[] {TEST_NAMES};
    }

    /** Whether the assertion is to be run. */
    public static boolean begin(int index) {
        if (decided[index]) return false;
        begun[index] = true;
        say.accept("begin " + index);
        return true;
    }

    public static void raised(int index, Throwable error) {
        if (error instanceof Values.Unsupported) {
            report(index, "unsupported", " " + hexadecimal(error.getMessage()));
        } else {
            report(index, "raised", " " + hexadecimal(words(error)));
        }
    }

    /** What ended a test outside of any assertion is what each of its own says that it kept from being reached. */
    public static void outside(Throwable error, int[] own) {
        for (int index : own) {
            if (!begun[index] && begin(index)) raised(index, error);
        }
        say.accept("raised - " + hexadecimal(words(error)));
    }

    public static void done() {
        say.accept("done " + reports);
    }

    private static void report(int index, String word, String rest) {
        reports++;
        if (!word.equals("passed")) decided[index] = true;
        say.accept(word + " " + index + rest);
    }

    private static void passed(int index) {
        report(index, "passed", "");
    }

    private static void finish(int index, boolean holds, String expected, String actual) {
        if (holds) {
            passed(index);
        } else {
            report(index, "failed", " " + expected + " " + actual);
        }
    }

    private static String words(Throwable error) {
        try {
            return Values.shortened(error.toString());
        } catch (Throwable broken) {
            return error.getClass().getName();
        }
    }

    private static String hexadecimal(String text) {
        if (text == null || text.isEmpty()) return "-";
        StringBuilder digits = new StringBuilder();
        for (byte part : text.getBytes(StandardCharsets.UTF_8)) digits.append(String.format("%02x", part));
        return digits.toString();
    }

    private static String shown(Object value) {
        return hexadecimal(Values.show(value, OWN));
    }

    private static void compared(int index, boolean holds, Object expected, Object actual) {
        finish(index, holds, holds ? "-" : shown(expected), holds ? "-" : shown(actual));
    }

    /** A condition that is worth showing. */
    public static void check(int index, boolean wanted, boolean condition) {
        boolean truly = wanted != (index == canary);
        compared(index, condition == truly, truly, condition);
    }

    /** Any other condition. */
    public static void holds(int index, boolean condition) {
        finish(index, condition != (index == canary), "-", "-");
    }

    /** The receiver of a question, which must not be of the program's making. */
    public static <T> T plain(T value) {
        Values.plain(value, OWN);
        return value;
    }

    /** What `left.equals(right)` says of plain values; on the left null raises, as it would. */
    public static void equal(int index, boolean wanted, boolean swapped, Object left, Object right) {
        Objects.requireNonNull(left);
        equals(index, wanted, swapped ? left : right, swapped ? right : left);
    }

    public static void equals(int index, boolean wanted, Object expected, Object actual) {
        decide(index, wanted, Values.plain(expected, OWN), Values.plain(actual, OWN));
    }

    public static void arrays(int index, boolean wanted, boolean deep, Object expected, Object actual) {
        decide(index, wanted, Values.items(expected, deep, OWN), Values.items(actual, deep, OWN));
    }

    private static void decide(int index, boolean wanted, Object expected, Object actual) {
        boolean holds = Objects.equals(expected, actual);
        if (!wanted) {
            finish(index, holds == (index == canary), "-", shown(actual));
            return;
        }
        if (index == canary) {
            Object other = Values.other(expected);
            holds = other == expected ? !holds : Objects.equals(other, actual);
            expected = other;
        }
        compared(index, holds, expected, actual);
    }

    private static void near(int index, double expected, double actual, double delta) {
        boolean holds = Double.compare(expected, actual) == 0 || Math.abs(expected - actual) <= delta;
        compared(index, holds != (index == canary), expected, actual);
    }

    // The operand on the left of == or !=, and the first argument of assertEquals: what is compared how is a matter of types.

    public static Side left(long value) {
        return new Side(value, false, false);
    }

    public static Side left(char value) {
        return new Side(value, false, false);
    }

    public static Side left(float value) {
        return new Side(value, true, false);
    }

    public static Side left(double value) {
        return new Side(value, true, false);
    }

    public static Side left(boolean value) {
        return new Side(value, false, false);
    }

    public static Side left(Object value) {
        return new Side(value, false, true);
    }

    /** One of two operands. */
    public static final class Side {
        private final Object value;
        private final boolean isReal;
        private final boolean isReference;

        private Side(Object value, boolean isReal, boolean isReference) {
            this.value = value;
            this.isReal = isReal;
            this.isReference = isReference;
        }

        private double real() {
            return value instanceof Character letter ? letter : ((Number) value).doubleValue();
        }

        private long whole() {
            return value instanceof Character letter ? letter : ((Number) value).longValue();
        }

        private boolean isFraction() {
            return isReal || value instanceof Double || value instanceof Float;
        }

        private void tell(int index, boolean wanted, boolean swapped, boolean same, boolean otherwise, Object right) {
            boolean chosen = index == canary;
            boolean holds = wanted ? chosen ? otherwise : same : chosen ? same : !same;
            Object expected = swapped ? value : right;
            compared(index, holds, chosen && wanted ? Values.other(expected) : expected, swapped ? right : value);
        }

        public void same(int index, boolean wanted, boolean swapped, long right) {
            Objects.requireNonNull(value);
            if (isFraction()) {
                boolean single = value instanceof Float;
                boolean same = single ? (Float) value == (float) right : real() == (double) right;
                tell(index, wanted, swapped, same, real() == (double) right + 1 && !same, right);
            } else {
                tell(index, wanted, swapped, whole() == right, whole() == right + 1, right);
            }
        }

        public void same(int index, boolean wanted, boolean swapped, char right) {
            Objects.requireNonNull(value);
            boolean same = isFraction() ? real() == right : whole() == right;
            boolean otherwise = isFraction() ? real() == right + 1 && !same : whole() == right + 1;
            tell(index, wanted, swapped, same, otherwise, right);
        }

        public void same(int index, boolean wanted, boolean swapped, float right) {
            Objects.requireNonNull(value);
            boolean same = value instanceof Double ? real() == right : ((Number) number()).floatValue() == right;
            tell(index, wanted, swapped, same, real() == right + 1 && !same, right);
        }

        public void same(int index, boolean wanted, boolean swapped, double right) {
            Objects.requireNonNull(value);
            boolean same = real() == right;
            tell(index, wanted, swapped, same, real() == right + 1 && !same, right);
        }

        private Number number() {
            return value instanceof Character letter ? Integer.valueOf(letter) : (Number) value;
        }

        public void same(int index, boolean wanted, boolean swapped, boolean right) {
            boolean left = (Boolean) value;
            tell(index, wanted, swapped, left == right, left != right, right);
        }

        public void same(int index, boolean wanted, boolean swapped, Object right) {
            if (!isReference && right instanceof Number number) {
                if (number instanceof Float || number instanceof Double) {
                    same(index, wanted, swapped, number.doubleValue());
                } else {
                    same(index, wanted, swapped, number.longValue());
                }
            } else if (!isReference && right instanceof Boolean truth) {
                same(index, wanted, swapped, truth.booleanValue());
            } else if (!isReference && right instanceof Character letter) {
                same(index, wanted, swapped, letter.charValue());
            } else {
                tell(index, wanted, swapped, value == right, false, right);
            }
        }

        // As an expected value.

        public void equal(int index, boolean wanted, long actual) {
            if (isFraction()) {
                Judge.equals(index, wanted, (Object) real(), (Object) (double) actual);
            } else if (value instanceof Number && !isReference) {
                Judge.equals(index, wanted, (Object) whole(), (Object) actual);
            } else {
                equal(index, wanted, actual == (int) actual ? (Object) (int) actual : (Object) actual);
            }
        }

        public void equal(int index, boolean wanted, double actual) {
            boolean number = !isReference && value instanceof Number;
            Judge.equals(index, wanted, number ? (Object) real() : value, (Object) actual);
        }

        public void equal(int index, boolean wanted, char actual) {
            equal(index, wanted, (Object) actual);
        }

        public void equal(int index, boolean wanted, boolean actual) {
            equal(index, wanted, (Object) actual);
        }

        public void equal(int index, boolean wanted, Object actual) {
            boolean whole = actual instanceof Long || actual instanceof Integer || actual instanceof Short
                || actual instanceof Byte;
            if (!isReference && whole && value instanceof Number) {
                equal(index, wanted, ((Number) actual).longValue());
            } else {
                Judge.equals(index, wanted, value, actual);
            }
        }
    }

    // The static methods of JUnit, with the index before their arguments.

    public static void assertEquals(int index, double expected, double actual, double delta) {
        near(index, expected, actual, delta);
    }

    public static void assertEquals(int index, String first, Object second, Object third) {
        equals(index, true, second, third);
    }

    public static void assertEquals(int index, Object first, Object second, String third) {
        equals(index, true, first, second);
    }

    public static void assertEquals(int index, String first, String second, String third) {
        equals(index, true, MESSAGE_LAST ? first : second, MESSAGE_LAST ? second : third);
    }

    public static void assertTrue(int index, boolean condition) {
        check(index, true, condition);
    }

    public static void assertTrue(int index, String message, boolean condition) {
        check(index, true, condition);
    }

    public static void assertTrue(int index, boolean condition, String message) {
        check(index, true, condition);
    }

    public static void assertFalse(int index, boolean condition) {
        check(index, false, condition);
    }

    public static void assertFalse(int index, String message, boolean condition) {
        check(index, false, condition);
    }

    public static void assertFalse(int index, boolean condition, String message) {
        check(index, false, condition);
    }

    public static void assertNull(int index, Object value) {
        left(value).same(index, true, false, (Object) null);
    }

    public static void assertNotNull(int index, Object value) {
        left(value).same(index, false, false, (Object) null);
    }

    public static void assertSame(int index, Object expected, Object actual) {
        left(actual).same(index, true, false, expected);
    }

    public static void assertNotSame(int index, Object expected, Object actual) {
        left(actual).same(index, false, false, expected);
    }

    public static void assertArrayEquals(int index, Object expected, Object actual) {
        arrays(index, true, true, expected, actual);
    }

    public static void assertArrayEquals(int index, double[] expected, double[] actual, double delta) {
        boolean holds = expected.length == actual.length;
        for (int at = 0; holds && at < expected.length; at++) holds = Math.abs(expected[at] - actual[at]) <= delta;
        compared(index, holds != (index == canary), expected, actual);
    }

    /** Something that may throw. */
    public interface Action {
        void run() throws Throwable;
    }

    public static void assertThrows(int index, Class<?> wanted, Action action) {
        Object thrown = null;
        try {
            action.run();
        } catch (Throwable error) {
            thrown = error.getClass();
            if (wanted.isInstance(error)) {
                finish(index, index != canary, "-", "-");
                return;
            }
        }
        compared(index, index == canary && thrown == null, wanted, thrown);
    }

    public static void fail(int index, Object... message) {
        finish(index, index == canary, "-", "-");
    }
}
