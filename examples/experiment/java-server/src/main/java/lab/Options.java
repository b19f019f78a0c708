package lab;

import lab.json.Json;

import java.util.concurrent.ThreadFactory;

/** What the command line says. */
record Options(int port, ThreadFactory threads, Json json) {
    static final String USAGE = "usage: java -jar server.jar [--port=30001] [--threads=virtual|classic] [--parser=own|gson]";

    static Options of(String[] arguments) {
        int port = 30001;
        ThreadFactory threads = threads("classic");
        Json json = Json.named("own");
        for (String argument : arguments) {
            String[] parts = argument.split("=", 2);
            String value = parts.length == 2 ? parts[1] : "";
            switch (parts[0]) {
                case "--port" -> port = port(value);
                case "--threads" -> threads = threads(value);
                case "--parser" -> json = Json.named(value);
                default -> throw new IllegalArgumentException("unknown argument `" + argument + "`");
            }
        }
        return new Options(port, threads, json);
    }

    private static int port(String value) {
        try {
            int port = Integer.parseInt(value);
            if (port > 0 && port < 65_536) {
                return port;
            }
        } catch (NumberFormatException ignored) {
            // The same error as for a number that no port has.
        }
        throw new IllegalArgumentException("invalid port `" + value + "`: expected 1 to 65535");
    }

    private static ThreadFactory threads(String kind) {
        return switch (kind) {
            case "classic" -> Thread::new;
            case "virtual" -> virtual();
            default -> throw new IllegalArgumentException("unknown threads `" + kind + "`: expected virtual or classic");
        };
    }

    /** {@code Thread.ofVirtual().factory()}, found at run time, so that Java 17 can compile and run the rest. */
    private static ThreadFactory virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(
                    "virtual threads need Java 21 or later, and this is Java " + Runtime.version().feature());
        }
    }
}
