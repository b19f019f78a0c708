import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.w3c.tidy.Tidy;

/** What JTidy counts in files, set up as JMeter's HTML Assertion does. The standard input names them, a line each; three lines of the
 * output tell what each has as HTML, XHTML and XML: the number of the format, its errors and warnings, and the file. JTidy never ends
 * with some pages: after two seconds such a one is given up, and its thread goes on until the program ends. */
public class Faults {
    static String count(byte[] page, int format) {
        Tidy tidy = new Tidy();
        tidy.setInputEncoding("UTF-8");
        tidy.setOutputEncoding("UTF-8");
        tidy.setQuiet(false);
        tidy.setShowWarnings(true);
        tidy.setDocType("omit");
        tidy.setXHTML(format == 1);
        tidy.setXmlTags(format == 2);
        tidy.setErrout(new PrintWriter(new StringWriter()));
        try {
            tidy.parse(new ByteArrayInputStream(page), new ByteArrayOutputStream());
            return tidy.getParseErrors() + " " + tidy.getParseWarnings();
        } catch (Exception | StackOverflowError error) {
            return "threw " + error.getClass().getSimpleName();
        }
    }

    static String countInTime(byte[] page, int format) throws InterruptedException, ExecutionException {
        FutureTask<String> counted = new FutureTask<>(() -> count(page, format));
        Thread thread = new Thread(counted);
        thread.setDaemon(true);
        thread.start();
        try {
            return counted.get(2, TimeUnit.SECONDS);
        } catch (TimeoutException error) {
            return "threw " + error.getClass().getSimpleName();
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (String file : new String(System.in.readAllBytes(), "UTF-8").lines().toList()) {
            byte[] page = Files.readAllBytes(Path.of(file));
            for (int format = 0; format < 3; format++) {
                System.out.println(format + " " + countInTime(page, format) + " " + file);
            }
        }
    }
}
