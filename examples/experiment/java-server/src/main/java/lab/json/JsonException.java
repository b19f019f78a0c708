package lab.json;

/** What is wrong with a JSON text. */
public final class JsonException extends RuntimeException {
    public JsonException(String message) {
        super(message);
    }
}
