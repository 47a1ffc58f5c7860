package rolecall;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Values that tests compare: copied into plain ones, shown, changed. */
public final class Values {
    private static final int MOST_ITEMS = 1_000_000;
    private static final int MOST_LETTERS = 500;

    private Values() {}

    /** A value of a type that the program defined, whose own equality proves nothing. */
    public static final class Unsupported extends RuntimeException {
        Unsupported(String type) {
            super(type, null, false, false);
        }
    }

    /** Whether a class is the library's. */
    private static boolean isPlain(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return loader == null || loader == ClassLoader.getPlatformClassLoader();
    }

    private static boolean isOwn(Class<?> type, Set<String> own) {
        return own.contains(type.getName().split("\\$")[0]);
    }

    /**
     * A copy that holds no code of the program: containers become those of the library, item by item; what is equal by
     * identity stays itself. `own` names types of the tests, whose equality may be trusted.
     */
    public static Object plain(Object value, Set<String> own) {
        return plain(value, own, new int[] {MOST_ITEMS});
    }

    private static Object plain(Object value, Set<String> own, int[] room) {
        if (value == null) return null;
        if (--room[0] < 0) throw new Unsupported(value.getClass().getName() + " without end");
        Class<?> type = value.getClass();
        if (isOwn(type, own)) return value;
        if (type.isArray()) {
            if (!isPlain(element(type)) && !isOwn(element(type), own)) throw new Unsupported(type.getTypeName());
            return value;
        }
        if (!isPlain(type)) throw new Unsupported(type.getName());
        if (value instanceof List<?> list) {
            List<Object> copy = new ArrayList<>();
            for (Object item : list) copy.add(plain(item, own, room));
            return copy;
        }
        if (value instanceof Set<?> set) {
            Set<Object> copy = new HashSet<>();
            for (Object item : set) copy.add(plain(item, own, room));
            return copy;
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> copy = new HashMap<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                copy.put(plain(entry.getKey(), own, room), plain(entry.getValue(), own, room));
            }
            return copy;
        }
        if (value instanceof Map.Entry<?, ?> entry) {
            return new AbstractMap.SimpleEntry<>(
                plain(entry.getKey(), own, room), plain(entry.getValue(), own, room));
        }
        if (value instanceof Optional<?> optional) return optional.map(item -> plain(item, own, room));
        return value;
    }

    private static Class<?> element(Class<?> type) {
        while (type.isArray()) type = type.getComponentType();
        return type;
    }

    /** An array as a list of plain values, arrays in it too where `deep`. */
    public static Object items(Object array, boolean deep, Set<String> own) {
        if (array == null) return null;
        if (!array.getClass().isArray()) return plain(array, own);
        List<Object> items = new ArrayList<>();
        for (int index = 0; index < Array.getLength(array); index++) {
            Object item = Array.get(array, index);
            items.add(deep ? items(item, true, own) : plain(item, own));
        }
        return items;
    }

    /** Another value of the same type; the value itself where none is known. */
    public static Object other(Object value) {
        if (value == null) return new Object();
        if (value instanceof Boolean it) return !it;
        if (value instanceof Byte it) return (byte) (it + 1);
        if (value instanceof Short it) return (short) (it + 1);
        if (value instanceof Integer it) return it + 1;
        if (value instanceof Long it) return it + 1;
        if (value instanceof Character it) return (char) (it + 1);
        if (value instanceof Float it) return it + 1 == it ? 0f : it + 1;
        if (value instanceof Double it) return it + 1 == it ? 0.0 : it + 1;
        if (value instanceof String it) return it + "x";
        if (value instanceof BigInteger it) return it.add(BigInteger.ONE);
        if (value instanceof BigDecimal it) return it.add(BigDecimal.ONE);
        if (value instanceof Optional<?> it) return it.isEmpty() ? Optional.of("x") : Optional.empty();
        if (value instanceof ArrayList<?> it) {
            List<Object> more = new ArrayList<>(it);
            more.add(it.isEmpty() ? null : it.get(it.size() - 1));
            return more;
        }
        if (value instanceof HashSet<?> it) {
            Set<Object> more = new HashSet<>(it);
            more.add(new Object());
            return more;
        }
        if (value instanceof HashMap<?, ?> it) {
            Map<Object, Object> more = new HashMap<>(it);
            more.put(new Object(), null);
            return more;
        }
        return value;
    }

    /** A value as text; never fails. */
    public static String show(Object value, Set<String> own) {
        StringBuilder text = new StringBuilder();
        try {
            write(value, own, text);
        } catch (Throwable error) {
            text.append("...");
        }
        return shortened(text.toString());
    }

    /** A text of bounded length. */
    public static String shortened(String text) {
        return text.length() > MOST_LETTERS ? text.substring(0, MOST_LETTERS) + "..." : text;
    }

    private static void write(Object value, Set<String> own, StringBuilder text) {
        if (text.length() > MOST_LETTERS) return;
        if (value == null) {
            text.append("null");
        } else if (value instanceof String it) {
            text.append('"').append(escaped(it)).append('"');
        } else if (value instanceof Character it) {
            text.append('\'').append(escaped(it.toString())).append('\'');
        } else if (value.getClass().isArray()) {
            text.append('[');
            for (int index = 0; index < Array.getLength(value) && text.length() <= MOST_LETTERS; index++) {
                if (index > 0) text.append(", ");
                write(Array.get(value, index), own, text);
            }
            text.append(']');
        } else if (!isPlain(value.getClass()) && !isOwn(value.getClass(), own)) {
            text.append(value.getClass().getName()).append(" object");
        } else if (value instanceof Collection<?> it) {
            String between = "[";
            for (Object item : it) {
                if (text.length() > MOST_LETTERS) break;
                text.append(between);
                write(item, own, text);
                between = ", ";
            }
            text.append(it.isEmpty() ? "[]" : "]");
        } else if (value instanceof Map<?, ?> it) {
            String between = "{";
            for (Map.Entry<?, ?> entry : it.entrySet()) {
                if (text.length() > MOST_LETTERS) break;
                text.append(between);
                write(entry.getKey(), own, text);
                text.append('=');
                write(entry.getValue(), own, text);
                between = ", ";
            }
            text.append(it.isEmpty() ? "{}" : "}");
        } else if (value instanceof Optional<?> it) {
            text.append("Optional");
            write(it.isPresent() ? List.of(it.get()) : List.of(), own, text);
        } else {
            text.append(value);
        }
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t");
    }
}
