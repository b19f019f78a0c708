package lab.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both ways to read JSON give the same, and refuse the same. */
class JsonTest {
    private final Json own = Json.named("own");
    private final Json gson = Json.named("gson");

    @ParameterizedTest
    @ValueSource(strings = {
        "{\"user\":\"a\",\"text\":\"b c\"}", " { \"a\" : [ 1 , -2.5e3 , true , false , null ] } ", "[]", "{}", "[[[]],{}]",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\"", "0", "-0.5", "1E2", "9223372036854775807", "\"\"", "\"\u00e4\"", "null", "{\"a\":1,\"a\":2}"
    })
    void whatIsReadIsTheSame(String text) {
        Object read = own.parse(text);
        assertEquals(gson.parse(text), read);
        assertEquals(read, own.parse(own.write(read)));
        assertEquals(read, gson.parse(own.write(read)));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", " ", "{", "[1,", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[1,]", "01", "1.", "-", "1e", "+1", "tru", "nul",
        "\"a", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "1 2", "'a'", "NaN"
    })
    void whatIsRefusedIsTheSame(String text) {
        assertThrows(JsonException.class, () -> own.parse(text));
        assertThrows(JsonException.class, () -> gson.parse(text));
    }

    @Test
    void anErrorSaysWhere() {
        JsonException error = assertThrows(JsonException.class, () -> own.parse("{\"a\": x}"));
        assertEquals("expected a value at character 6, found `x`", error.getMessage());
        assertThrows(JsonException.class, () -> own.parse("[".repeat(100_000)));
    }

    @Test
    void randomValuesAreWrittenAndReadAlike() {
        Random random = new Random(7);
        for (int i = 0; i < 2_000; i++) {
            Object value = value(random, 0);
            assertEquals(gson.write(value), own.write(value));
            assertEquals(gson.parse(gson.write(value)), own.parse(own.write(value)));
        }
    }

    private static Object value(Random random, int depth) {
        return switch (random.nextInt(depth < 4 ? 7 : 5)) {
            case 0 -> null;
            case 1 -> random.nextBoolean();
            case 2 -> random.nextLong();
            case 3 -> random.nextGaussian();
            case 4 -> text(random);
            case 5 -> {
                List<Object> items = new ArrayList<>();
                random.ints(random.nextInt(5)).forEach(any -> items.add(value(random, depth + 1)));
                yield items;
            }
            default -> {
                Map<String, Object> fields = new TreeMap<>();
                random.ints(random.nextInt(5)).forEach(any -> fields.put(text(random), value(random, depth + 1)));
                yield fields;
            }
        };
    }

    /** Characters that are escaped and others; not U+2028 and U+2029, which Gson alone escapes. */
    private static String text(Random random) {
        String of = "abc \"\\/\n\t\b\u0001\u001f\u00e4\u20ac<>&=";
        return random.ints(random.nextInt(12), 0, of.length())
                .collect(StringBuilder::new, (out, at) -> out.append(of.charAt(at)), StringBuilder::append).toString();
    }
}
