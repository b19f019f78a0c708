package lab.json;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.ToNumberPolicy;

/** Gson, for values without classes of their own, as {@link OwnJson} reads and writes them. */
final class GsonJson implements Json {
    private final Gson gson = new GsonBuilder()
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
            .setStrictness(Strictness.STRICT)
            .disableHtmlEscaping()
            .serializeNulls()
            .create();

    @Override
    public Object parse(String text) {
        if (text.isBlank()) {
            throw new JsonException("expected a value at character 0");
        }
        try {
            return gson.fromJson(text, Object.class);
        } catch (JsonParseException error) {
            throw new JsonException(error.getMessage());
        }
    }

    @Override
    public String write(Object value) {
        return gson.toJson(value);
    }
}
