//! `k6/encoding`.

use super::cases;

#[test]
fn base64_of_all_kinds() {
    // Bytes that need both of the characters in which the alphabets differ, and padding.
    let imports = "import encoding, { b64encode, b64decode } from 'k6/encoding';
const own = new Uint8Array([0xfb, 0xff, 0xfe, 0x01]);";
    cases(
        imports,
        &[
            ("b64encode('hé')", "\"aMOp\""),
            ("b64encode('')", "\"\""),
            ("b64encode(own)", "\"+//+AQ==\""),
            ("b64encode(own.buffer, 'std')", "\"+//+AQ==\""),
            ("b64encode(own, 'rawstd')", "\"+//+AQ\""),
            ("b64encode(own, 'url')", "\"-__-AQ==\""),
            ("b64encode(own, 'rawurl')", "\"-__-AQ\""),
            ("b64encode(own.subarray(1, 3))", "\"//4=\""),
            ("b64encode(new DataView(own.buffer, 3))", "\"AQ==\""),
            ("encoding.b64encode('a')", "\"YQ==\""),
            (
                "b64encode('a', 'hex')",
                "TypeError: `hex` is not a kind of base64: use std, rawstd, url or rawurl",
            ),
            (
                "b64encode({})",
                "TypeError: b64encode() takes a string, an ArrayBuffer or a typed array",
            ),
            ("hex(b64decode('+//+AQ=='))", "\"fbfffe01\""),
            ("b64decode('YQ==') instanceof ArrayBuffer", "true"),
            ("hex(b64decode('+//+AQ', 'rawstd'))", "\"fbfffe01\""),
            ("hex(b64decode('-__-AQ==', 'url'))", "\"fbfffe01\""),
            ("hex(b64decode('-__-AQ', 'rawurl'))", "\"fbfffe01\""),
            ("b64decode('aMOp', 'std', 's')", "\"hé\""),
            ("b64decode('aM\\r\\nOp', 'std', 's')", "\"hé\""),
            ("b64decode('', 'std', 's')", "\"\""),
            ("b64decode('YQ', 'std')", "Error: b64decode() takes base64 of the kind `std`: "),
            (
                "b64decode('YQ==', 'rawstd')",
                "Error: b64decode() takes base64 of the kind `rawstd`: ",
            ),
            ("b64decode('a?==')", "Error: b64decode() takes base64 of the kind `std`: "),
            ("b64decode('YQ==', 'x')", "TypeError: `x` is not a kind of base64"),
            ("b64decode(7)", "TypeError: b64decode() takes a string"),
            ("atob(btoa('hello'))", "\"hello\""),
        ],
    );
}
