package rolecall;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

/** Starts a whole program in a thread that may recurse deeply; a flag for that would give every thread as much. */
public final class Starter {
    private static final long STACK_BYTES = 128L << 20;

    private Starter() {}

    /** Argument: the class to start. */
    public static void main(String[] arguments) throws Throwable {
        Throwable[] thrown = new Throwable[1];
        Runnable program = () -> {
            try {
                start(Class.forName(arguments[0]));
            } catch (InvocationTargetException error) {
                thrown[0] = error.getCause();
            } catch (Throwable error) {
                thrown[0] = error;
            }
        };
        Thread thread = new Thread(null, program, "main", STACK_BYTES);
        thread.start();
        thread.join();
        if (thrown[0] != null) {
            thrown[0].setStackTrace(own(thrown[0].getStackTrace()));
            throw thrown[0];
        }
    }

    private static void start(Class<?> type) throws ReflectiveOperationException {
        for (Class<?> holder = type; holder != null; holder = holder.getSuperclass()) {
            for (Method method : holder.getDeclaredMethods()) {
                if (method.getName().equals("main") && Arrays.equals(method.getParameterTypes(), new Class<?>[] {String[].class})) {
                    method.setAccessible(true);
                    method.invoke(null, (Object) new String[0]);
                    return;
                }
            }
        }
        throw new NoSuchMethodException("main method not found in class " + type.getName());
    }

    /** The frames of the program itself. */
    private static StackTraceElement[] own(StackTraceElement[] frames) {
        int count = frames.length;
        for (int index = frames.length; index-- > 0;) {
            String name = frames[index].getClassName();
            boolean ours = name.startsWith("rolecall.") || name.equals("java.lang.Thread");
            if (!ours && !name.startsWith("java.lang.reflect.") && !name.startsWith("jdk.internal.reflect.")) break;
            count = index;
        }
        return Arrays.copyOf(frames, count);
    }
}
