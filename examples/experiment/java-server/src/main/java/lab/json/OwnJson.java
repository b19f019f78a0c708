package lab.json;

/** A small JSON parser (RFC 8259) and writer, without reflection. */
final class OwnJson implements Json {
    @Override
    public Object parse(String text) {
        return new Parser(text).whole();
    }

    @Override
    public String write(Object value) {
        StringBuilder out = new StringBuilder(128);
        new Writer(out).value(value);
        return out.toString();
    }
}
