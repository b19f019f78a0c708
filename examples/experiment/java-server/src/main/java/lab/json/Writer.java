package lab.json;

import java.util.List;
import java.util.Map;

/** Writes values without spaces. */
final class Writer {
    private static final String HEX = "0123456789abcdef";

    private final StringBuilder out;

    Writer(StringBuilder out) {
        this.out = out;
    }

    void value(Object value) {
        if (value == null || value instanceof Boolean || value instanceof Long || value instanceof Integer) {
            out.append(value);
        } else if (value instanceof Double number) {
            if (number.isNaN() || number.isInfinite()) {
                throw new IllegalArgumentException("JSON has no number " + number);
            }
            out.append(number);
        } else if (value instanceof String text) {
            string(text);
        } else if (value instanceof List<?> items) {
            array(items);
        } else if (value instanceof Map<?, ?> fields) {
            object(fields);
        } else {
            throw new IllegalArgumentException("JSON has nothing like " + value.getClass());
        }
    }

    private void array(List<?> items) {
        out.append('[');
        String between = "";
        for (Object item : items) {
            out.append(between);
            value(item);
            between = ",";
        }
        out.append(']');
    }

    private void object(Map<?, ?> fields) {
        out.append('{');
        String between = "";
        for (Map.Entry<?, ?> field : fields.entrySet()) {
            out.append(between);
            string((String) field.getKey());
            out.append(':');
            value(field.getValue());
            between = ",";
        }
        out.append('}');
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char next = text.charAt(i);
            switch (next) {
                case '"', '\\' -> out.append('\\').append(next);
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (next < ' ') {
                        out.append("\\u00").append(HEX.charAt(next >> 4)).append(HEX.charAt(next & 15));
                    } else {
                        out.append(next);
                    }
                }
            }
        }
        out.append('"');
    }
}
