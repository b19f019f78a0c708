package lab.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one text, by recursive descent. */
final class Parser {
    /** How deeply values may be nested: a stack is finite. */
    private static final int MAX_DEPTH = 200;

    private final String text;
    private int at;
    private int depth;

    Parser(String text) {
        this.text = text;
    }

    Object whole() {
        Object value = value();
        space();
        if (at < text.length()) {
            throw expected("the end");
        }
        return value;
    }

    private Object value() {
        space();
        return switch (peek()) {
            case '{' -> nested(true);
            case '[' -> nested(false);
            case '"' -> string();
            case 't' -> word("true", Boolean.TRUE);
            case 'f' -> word("false", Boolean.FALSE);
            case 'n' -> word("null", null);
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
            default -> throw expected("a value");
        };
    }

    private Object nested(boolean isObject) {
        if (++depth > MAX_DEPTH) {
            throw new JsonException("more than " + MAX_DEPTH + " levels at character " + at);
        }
        at++;
        Object value = isObject ? object() : array();
        depth--;
        return value;
    }

    private Map<String, Object> object() {
        Map<String, Object> fields = new LinkedHashMap<>();
        space();
        if (skip('}')) {
            return fields;
        }
        do {
            space();
            if (peek() != '"') {
                throw expected("a name in quotes");
            }
            String name = string();
            space();
            if (!skip(':')) {
                throw expected("`:`");
            }
            fields.put(name, value());
            space();
        } while (skip(','));
        if (!skip('}')) {
            throw expected("`,` or `}`");
        }
        return fields;
    }

    private List<Object> array() {
        List<Object> items = new ArrayList<>();
        space();
        if (skip(']')) {
            return items;
        }
        do {
            items.add(value());
            space();
        } while (skip(','));
        if (!skip(']')) {
            throw expected("`,` or `]`");
        }
        return items;
    }

    private String string() {
        int start = ++at;
        // Most texts have no escapes, and are a part of the whole.
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\' && text.charAt(at) >= ' ') {
            at++;
        }
        if (skip('"')) {
            return text.substring(start, at - 1);
        }
        StringBuilder out = new StringBuilder().append(text, start, at);
        while (!skip('"')) {
            char next = peek();
            if (next < ' ') {
                throw expected("a character of a text");
            }
            at++;
            out.append(next == '\\' ? escaped() : next);
        }
        return out.toString();
    }

    private char escaped() {
        char escape = peek();
        at++;
        return switch (escape) {
            case '"', '\\', '/' -> escape;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> {
                at--;
                throw expected("an escape such as \\n");
            }
        };
    }

    private char unicode() {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(peek(), 16);
            if (digit < 0 || peek() > 'f') {
                throw expected("a hexadecimal digit");
            }
            code = code * 16 + digit;
            at++;
        }
        return (char) code;
    }

    private Number number() {
        int start = at;
        boolean isWhole = true;
        skip('-');
        if (!skip('0')) {
            digits();
        }
        if (skip('.')) {
            isWhole = false;
            digits();
        }
        if (skip('e') || skip('E')) {
            isWhole = false;
            if (!skip('+')) {
                skip('-');
            }
            digits();
        }
        String digits = text.substring(start, at);
        if (isWhole) {
            try {
                return Long.parseLong(digits);
            } catch (NumberFormatException tooLarge) {
                return Double.parseDouble(digits);
            }
        }
        return Double.parseDouble(digits);
    }

    private void digits() {
        int start = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        if (at == start) {
            throw expected("a digit");
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw expected("a value");
        }
        at += word.length();
        return value;
    }

    private void space() {
        while (at < text.length() && " \n\r\t".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean skip(char wanted) {
        boolean isThere = at < text.length() && text.charAt(at) == wanted;
        at += isThere ? 1 : 0;
        return isThere;
    }

    /** The next character; NUL, which no JSON text has outside of escapes, at the end. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private JsonException expected(String what) {
        String found = at < text.length() ? "`" + text.charAt(at) + "`" : "the end";
        return new JsonException("expected " + what + " at character " + at + ", found " + found);
    }
}
