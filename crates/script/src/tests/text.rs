//! `TextEncoder` and `TextDecoder`.

use super::cases;

#[test]
fn texts_become_utf_8_and_back() {
    cases(
        "",
        &[
            ("[...new TextEncoder().encode('hé€')]", "[104,195,169,226,130,172]"),
            ("new TextEncoder().encode() instanceof Uint8Array", "true"),
            ("new TextEncoder().encoding", "\"utf-8\""),
            ("new TextEncoder().encodeInto('aé€', new Uint8Array(5))", r#"{"read":2,"written":3}"#),
            (
                "(() => { const own = new Uint8Array(4); new TextEncoder().encodeInto('€', own); return [...own] })()",
                "[226,130,172,0]",
            ),
            ("new TextDecoder().decode(new Uint8Array([104, 195, 169]))", "\"hé\""),
            ("new TextDecoder('UTF8').decode(new Uint8Array([97]).buffer)", "\"a\""),
            ("new TextDecoder().decode()", "\"\""),
            ("new TextDecoder().decode(new Uint8Array([0xff, 97]))", "\"\u{fffd}a\""),
            (
                "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([97, 0xff]))",
                "TypeError: byte 1 does not belong to UTF-8",
            ),
            ("new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97])).length", "1"),
            (
                "new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 97])).length",
                "2",
            ),
            (
                "[new TextDecoder().encoding, new TextDecoder().fatal, new TextDecoder().ignoreBOM]",
                r#"["utf-8",false,false]"#,
            ),
            ("new TextDecoder('latin1')", "RangeError: TextDecoder reads UTF-8, not \"latin1\""),
            (
                "new TextDecoder().decode(new Uint8Array(1), { stream: true })",
                "TypeError: TextDecoder decodes whole texts",
            ),
        ],
    );
}
