package lab.json;

/**
 * Text to values and back. Values are maps with texts as keys, lists, texts, {@code Long} or {@code Double} numbers,
 * booleans and null.
 */
public interface Json {
    /** @throws JsonException if the text is not one JSON value */
    Object parse(String text);

    String write(Object value);

    static Json named(String parser) {
        return switch (parser) {
            case "own" -> new OwnJson();
            case "gson" -> new GsonJson();
            default -> throw new IllegalArgumentException("unknown parser `" + parser + "`: expected own or gson");
        };
    }
}
