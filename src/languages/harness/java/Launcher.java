package rolecall;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Starts a program that is linked with its tests: reads the request before any class of it is loaded. */
public final class Launcher {
    /** What the machine needs to give up a stack that is full is more than twice of it again. */
    private static final long STACK_BYTES = 128L << 20;

    private Launcher() {}

    /** Arguments: the directory of the program's classes, the package of its harness. */
    public static void main(String[] arguments) throws Exception {
        FileDescriptor channel = channel();
        String[] request = line(new FileInputStream(channel)).split(" ");
        boolean[] decided = new boolean[request[1].equals("-") ? 0 : request[1].length()];
        for (int index = 0; index < decided.length; index++) decided[index] = request[1].charAt(index) == '1';
        int canary = request[2].equals("-") ? -1 : Integer.parseInt(request[2]);
        FileOutputStream output = new FileOutputStream(channel);
        Seal seal = new Seal(request[0]);
        Consumer<String> say = words -> {
            try {
                seal.write(output, words);
            } catch (IOException error) {
                Runtime.getRuntime().halt(125);
            }
        };

        ProgramLoader loader = new ProgramLoader(new File(arguments[0]));
        Class<?> judge = loader.loadClass(arguments[1] + ".Judge");
        judge.getMethod("start", Consumer.class, boolean[].class, int.class)
            .invoke(null, say, decided, canary);
        String[] tests = (String[]) judge.getMethod("tests").invoke(null);
        Method outside = judge.getMethod("outside", Throwable.class, int[].class);
        boolean[] before = decided.clone();
        Runnable all = () -> {
            for (String test : tests) run(loader, test, before, outside);
        };
        Thread thread = new Thread(null, all, "main", STACK_BYTES);
        thread.setContextClassLoader(loader);
        thread.start();
        thread.join();
        System.out.flush();
        System.err.flush();
        judge.getMethod("done").invoke(null);
        Runtime.getRuntime().halt(0);
    }

    /**
     * One test: a class, the methods to call on one new object of it, and the test's own assertions, if they are known.
     * It is not called where all of them were decided before.
     */
    private static void run(ClassLoader loader, String test, boolean[] before, Method outside) {
        String[] parts = test.split("#");
        int[] own = parts.length < 3 ? new int[0] : Stream.of(parts[2].split(",")).mapToInt(Integer::parseInt).toArray();
        if (own.length > 0 && IntStream.of(own).allMatch(index -> before[index])) return;
        try {
            Class<?> type = Class.forName(parts[0], true, loader);
            if (parts[1].equals("main")) {
                Method main = type.getDeclaredMethod("main", String[].class);
                main.setAccessible(true);
                main.invoke(null, (Object) new String[0]);
                return;
            }
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            Object object = constructor.newInstance();
            for (String name : parts[1].split(",")) {
                Method method = type.getDeclaredMethod(name);
                method.setAccessible(true);
                method.invoke(object);
            }
        } catch (InvocationTargetException error) {
            report(outside, error.getCause(), own);
        } catch (Throwable error) {
            report(outside, error, own);
        }
    }

    private static void report(Method outside, Throwable error, int[] own) {
        try {
            outside.invoke(null, error, own);
        } catch (ReflectiveOperationException broken) {
            Runtime.getRuntime().halt(125);
        }
    }

    /** Descriptor 3, which no public name leads to. The runtime gives no descriptor above 2 to processes that it starts. */
    private static FileDescriptor channel() throws ReflectiveOperationException {
        var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        var unsafe = (sun.misc.Unsafe) field.get(null);
        FileDescriptor channel = new FileDescriptor();
        unsafe.putInt(channel, unsafe.objectFieldOffset(FileDescriptor.class.getDeclaredField("fd")), 3);
        return channel;
    }

    private static String line(FileInputStream input) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int letter = input.read(); letter != '\n'; letter = input.read()) {
            if (letter < 0) throw new IOException("no request");
            line.write(letter);
        }
        return line.toString(StandardCharsets.UTF_8);
    }
}
