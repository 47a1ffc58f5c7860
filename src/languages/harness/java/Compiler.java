package rolecall;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** A compiler that stays: reads units on its standard input and answers each on its standard output. */
public final class Compiler {
    /** What it says, with a trace behind it, of an exception of its own. */
    private static final String FAILED = "An exception has occurred in the compiler";

    private Compiler() {}

    /** Arguments: options of the compiler. */
    public static void main(String[] options) throws IOException {
        InputStream input = new BufferedInputStream(System.in);
        DataOutputStream output = new DataOutputStream(new BufferedOutputStream(System.out));
        System.setOut(System.err);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager library = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        for (String head = line(input); head != null; head = line(input)) {
            List<Source> sources = new ArrayList<>();
            for (int left = Integer.parseInt(head.split(" ")[1]); left > 0; left--) {
                String[] file = line(input).split(" ");
                byte[] text = input.readNBytes(Integer.parseInt(file[1]));
                sources.add(new Source(file[0], new String(text, StandardCharsets.UTF_8)));
            }
            StringWriter said = new StringWriter();
            Memory memory = new Memory(library);
            String word;
            try {
                word = compiler.getTask(said, memory, null, List.of(options), null, sources).call() ? "ok" : "error";
            } catch (RuntimeException | Error error) {
                said.write(FAILED + "\n" + error + "\n");
                word = "error";
            }
            String text = said.toString();
            if (text.lines().anyMatch(line -> line.startsWith(FAILED))) {
                String why = text.lines().filter(line -> line.startsWith("java.")).findFirst().orElse("it does not say why");
                if (why.startsWith("java.lang.OutOfMemoryError")) word = "memory";
                text = "error: the compiler failed: " + why + "\n";
            }
            Map<String, ByteArrayOutputStream> built = word.equals("ok") ? memory.classes : Map.of();
            answer(output, word, text.getBytes(StandardCharsets.UTF_8), built);
        }
    }

    private static void answer(
            DataOutputStream output, String word, byte[] said, Map<String, ByteArrayOutputStream> classes)
            throws IOException {
        output.writeBytes("unit " + word + " " + said.length + " " + classes.size() + "\n");
        output.write(said);
        for (Map.Entry<String, ByteArrayOutputStream> entry : classes.entrySet()) {
            byte[] code = entry.getValue().toByteArray();
            output.write((entry.getKey() + " " + code.length + "\n").getBytes(StandardCharsets.UTF_8));
            output.write(code);
        }
        output.flush();
    }

    /** A line without its end; null at the end of the input. */
    private static String line(InputStream input) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int letter = input.read(); letter != '\n'; letter = input.read()) {
            if (letter < 0 && line.size() == 0) return null;
            if (letter < 0) throw new EOFException();
            line.write(letter);
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String path;
        private final String text;

        Source(String path, String text) {
            super(URI.create("memory:/" + path), Kind.SOURCE);
            this.path = path;
            this.text = text;
        }

        @Override
        public String getName() {
            return path;
        }

        @Override
        public CharSequence getCharContent(boolean lenient) {
            return text;
        }
    }

    /** Keeps classes in memory, by the paths that files of them would have. */
    private static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> classes = new TreeMap<>();

        Memory(JavaFileManager library) {
            super(library);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            String path = name.replace('.', '/') + kind.extension;
            return new SimpleJavaFileObject(URI.create("memory:/" + path), kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream code = new ByteArrayOutputStream();
                    classes.put(path, code);
                    return code;
                }
            };
        }
    }
}
