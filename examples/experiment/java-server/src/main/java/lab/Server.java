package lab;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import lab.json.Json;
import lab.json.JsonException;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The lab's server: ten threads, two requests. */
public final class Server {
    private static final int THREADS = 10;
    private static final int BACKLOG = 4096;
    private static final int MAX_BODY = 64 * 1024;
    /** Length of the word that a note is answered with: 9 bytes in quotes. */
    private static final int WORD = 7;

    private final Json json;
    private final Notes notes;

    Server(Json json, Notes notes) {
        this.json = json;
        this.notes = notes;
    }

    public static void main(String[] arguments) {
        Options options;
        try {
            options = Options.of(arguments);
        } catch (IllegalArgumentException error) {
            System.err.println(error.getMessage() + "\n" + Options.USAGE);
            System.exit(2);
            return;
        }
        try {
            start(options);
        } catch (IOException | SQLException error) {
            System.err.println("cannot serve 127.0.0.1:" + options.port() + ": " + error.getMessage());
            System.exit(1);
        }
    }

    private static void start(Options options) throws IOException, SQLException {
        // Without these it closes all but 200 idle connections, and small responses wait for the client's acknowledgement.
        System.setProperty("sun.net.httpserver.maxIdleConnections", "20000");
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer http = HttpServer.create(new InetSocketAddress("127.0.0.1", options.port()), BACKLOG);
        Notes notes = new Notes();
        ExecutorService workers = Executors.newFixedThreadPool(THREADS, options.threads());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(http, workers, notes)));
        Server server = new Server(options.json(), notes);
        http.createContext("/health", exchange -> respond(exchange, 200, "ok"));
        http.createContext("/store", server.handler(server::store));
        http.createContext("/compute", server.handler(server::compute));
        http.setExecutor(workers);
        http.start();
        System.out.println("listening on 127.0.0.1:" + options.port());
    }

    private static void stop(HttpServer http, ExecutorService workers, Notes notes) {
        http.stop(0);
        workers.shutdownNow();
        try {
            notes.close();
        } catch (IOException | SQLException error) {
            System.err.println("the database is left behind: " + error.getMessage());
        }
    }

    /** What a request with a JSON object is answered with. */
    private interface Answer {
        Object to(Map<?, ?> request) throws SQLException;
    }

    /** Stores a note of a user, and answers with the first word of what the database has. */
    private Object store(Map<?, ?> request) throws SQLException {
        String stored = notes.store(text(request, "user"), text(request, "text"));
        return stored.substring(0, Math.min(WORD, stored.length()));
    }

    private Object compute(Map<?, ?> request) {
        return Series.of(number(request, "seed"), number(request, "size"), number(request, "min"), number(request, "max"));
    }

    private HttpHandler handler(Answer answer) {
        return exchange -> {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
            if (!exchange.getRequestMethod().equals("POST")) {
                respond(exchange, 405, "expected POST");
            } else if (body.length > MAX_BODY) {
                respond(exchange, 413, "expected at most " + MAX_BODY + " bytes");
            } else {
                answer(exchange, new String(body, StandardCharsets.UTF_8), answer);
            }
        };
    }

    private void answer(HttpExchange exchange, String body, Answer answer) throws IOException {
        int status = 200;
        String text;
        try {
            if (!(json.parse(body) instanceof Map<?, ?> request)) {
                throw new IllegalArgumentException("expected an object");
            }
            text = json.write(answer.to(request));
            exchange.getResponseHeaders().set("Content-Type", "application/json");
        } catch (JsonException | IllegalArgumentException error) {
            status = 400;
            text = error.getMessage();
        } catch (SQLException error) {
            status = 500;
            text = error.getMessage();
        }
        respond(exchange, status, text);
    }

    private static void respond(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static String text(Map<?, ?> request, String name) {
        if (request.get(name) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException("expected a text `" + name + "`");
    }

    private static long number(Map<?, ?> request, String name) {
        if (request.get(name) instanceof Long number) {
            return number;
        }
        throw new IllegalArgumentException("expected a whole number `" + name + "`");
    }
}
