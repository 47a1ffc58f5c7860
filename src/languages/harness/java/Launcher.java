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

/** Starts a program that is linked with its tests: reads the request before any class of it is loaded. */
public final class Launcher {
    private static final long STACK_BYTES = 256L << 20;

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
        Method outside = judge.getMethod("outside", Throwable.class);
        Runnable all = () -> {
            for (String test : tests) run(loader, test, outside);
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

    /** One test: a class and, behind `#`, the methods to call on one new object of it. */
    private static void run(ClassLoader loader, String test, Method outside) {
        try {
            String[] parts = test.split("#");
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
            report(outside, error.getCause());
        } catch (Throwable error) {
            report(outside, error);
        }
    }

    private static void report(Method outside, Throwable error) {
        try {
            outside.invoke(null, error);
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
