import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A server whose heap is nearly full of what it keeps, so that each request, which replaces a part of it, makes garbage that
 * is costly to collect. Gc PORT KEPT_MIB
 */
class Gc {
    /** Small objects, which point to one another: the collector has to follow each. */
    private static final class Node {
        Node next;
        final long[] payload = new long[4];
    }

    private static final int CHAIN = 512;
    /** A chain of small objects. */
    private static Node chain() {
        Node first = null;
        for (int at = 0; at < CHAIN; at++) {
            Node node = new Node();
            node.next = first;
            first = node;
        }
        return first;
    }

    public static void main(String[] args) throws Exception {
        int chains = Integer.parseInt(args[1]) * 1024 * 1024 / (CHAIN * 72);
        Node[] kept = new Node[chains];
        for (int at = 0; at < chains; at++) {
            kept[at] = chain();
        }
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        HttpServer server = HttpServer.create(address, 1024);
        server.createContext("/", exchange -> {
            for (int at = 0; at < 8; at++) {
                kept[ThreadLocalRandom.current().nextInt(chains)] = chain();
            }
            byte[] body = "ok".getBytes();
            exchange.sendResponseHeaders(200, body.length);
            try (var out = exchange.getResponseBody()) {
                out.write(body);
            }
        });
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
    }
}
