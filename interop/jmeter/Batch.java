import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import org.apache.jmeter.NewDriver;

/** JMeter again and again in one Java, whose start is most of what a small plan takes. Each line of the standard input is a command
 * line of JMeter, its words between tabs, and is run as its launcher runs it; what JMeter says at the end of a run tells that the next
 * one may come. What JMeter reads once for all runs, as the form of its samples, is that of the first line. */
public class Batch {
    /** Whether a run is going on; before the first one JMeter's classes are not there. */
    static boolean isRunning() throws Exception {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        Method started = loader.loadClass("org.apache.jmeter.threads.JMeterContextService").getMethod("getTestStartTime");
        return (long) started.invoke(null) != 0;
    }

    public static void main(String[] none) throws Exception {
        // Squall's `User-Agent` says no more of it.
        System.setProperty("java.version", "17");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        boolean isFirst = true;
        for (String line; (line = lines.readLine()) != null; isFirst = false) {
            // It says that it is over a moment before it is.
            while (!isFirst && isRunning()) {
                Thread.sleep(2);
            }
            NewDriver.main(line.split("\t"));
        }
    }
}
