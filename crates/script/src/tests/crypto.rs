//! `k6/crypto`, and the global `crypto`.

use super::cases;

const IMPORTS: &str = "import crypto_, * as all from 'k6/crypto';
import { createHash, createHMAC, hmac, randomBytes, md4, md5, sha1, sha256, sha384, sha512, sha512_224, sha512_256, ripemd160 } from 'k6/crypto';";

/// What the documents of the algorithms give for `abc`.
#[test]
fn digests_are_those_of_the_standards() {
    cases(
        IMPORTS,
        &[
            ("md4('abc', 'hex')", "\"a448017aaf21d8525fc10ae87aa6729d\""),
            ("md5('abc', 'hex')", "\"900150983cd24fb0d6963f7d28e17f72\""),
            ("sha1('abc', 'hex')", "\"a9993e364706816aba3e25717850c26c9cd0d89d\""),
            (
                "sha256('abc', 'hex')",
                "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"",
            ),
            ("sha384('abc', 'hex').slice(0, 16)", "\"cb00753f45a35e8b\""),
            ("sha512('abc', 'hex').slice(0, 16)", "\"ddaf35a193617aba\""),
            (
                "sha512_224('abc', 'hex')",
                "\"4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa\"",
            ),
            ("sha512_256('abc', 'hex').slice(0, 16)", "\"53048e2681941ef9\""),
            ("ripemd160('abc', 'hex')", "\"8eb208f7e05d987a9b044a8e98c6b087f15a0bfc\""),
            ("crypto_.md5('abc', 'hex') === all.md5('abc', 'hex')", "true"),
            (
                "md5(new Uint8Array([0x61, 0x62, 0x63]), 'hex')",
                "\"900150983cd24fb0d6963f7d28e17f72\"",
            ),
            (
                "sha256([1], 'hex')",
                "TypeError: a hash takes a string, an ArrayBuffer or a typed array",
            ),
        ],
    );
}

#[test]
fn digests_have_the_encoding_that_is_asked_for() {
    cases(
        IMPORTS,
        &[
            ("md5('abc', 'base64')", "\"kAFQmDzST7DWlj99KOF/cg==\""),
            ("md5('abc', 'base64url')", "\"kAFQmDzST7DWlj99KOF_cg==\""),
            ("md5('abc', 'base64rawurl')", "\"kAFQmDzST7DWlj99KOF_cg\""),
            ("hex(md5('abc', 'binary'))", "\"900150983cd24fb0d6963f7d28e17f72\""),
            ("md5('abc', 'binary') instanceof ArrayBuffer", "true"),
            (
                "md5('abc', 'utf8')",
                "TypeError: `utf8` is not an encoding: use hex, base64, base64url, base64rawurl or binary",
            ),
            ("md5('abc', 'std')", "TypeError: `std` is not an encoding"),
            ("md5('abc')", "TypeError: `undefined` is not an encoding"),
        ],
    );
}

#[test]
fn hashers_take_their_data_in_parts() {
    cases(
        IMPORTS,
        &[
            (
                "(() => { const own = createHash('md5'); own.update('a'); own.update('bc'); return own.digest('hex') })()",
                "\"900150983cd24fb0d6963f7d28e17f72\"",
            ),
            // A digest ends nothing.
            (
                "(() => { const own = createHash('md5'); own.update('a'); own.digest('hex'); own.update('bc'); return own.digest('hex') })()",
                "\"900150983cd24fb0d6963f7d28e17f72\"",
            ),
            ("Object.getPrototypeOf(createHash('md5')).update = null", "TypeError"),
            ("createHash('md5').constructor.prototype.digest = null", "TypeError"),
            ("createHash('sha3')", "TypeError: `sha3` is not a hash algorithm: use md4, md5, sha1"),
            // RFC 2202 and RFC 4231, case 2.
            (
                "hmac('md5', 'Jefe', 'what do ya want for nothing?', 'hex')",
                "\"750c783e6ab0b503eaa86e310a5db738\"",
            ),
            (
                "hmac('sha256', 'Jefe', 'what do ya want for nothing?', 'hex')",
                "\"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\"",
            ),
            (
                "(() => { const own = createHMAC('sha1', 'Jefe'); own.update('what do ya want '); own.update('for nothing?'); return own.digest('hex') })()",
                "\"effcdf6ae5eb2fa2d27416d5f184df9c259a7c79\"",
            ),
            // RFC 4231, case 6: a key that is longer than a block.
            (
                "hmac('sha256', new Uint8Array(131).fill(0xaa), 'Test Using Larger Than Block-Size Key - Hash Key First', 'hex')",
                "\"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54\"",
            ),
            ("hmac('sha256', '', '', 'hex').slice(0, 8)", "\"b613679a\""),
            ("hmac('x', 'k', 'd', 'hex')", "TypeError: `x` is not a hash algorithm"),
            ("createHMAC('sha256')", "TypeError: createHMAC() takes an algorithm and a key"),
        ],
    );
}

#[test]
fn random_bytes_are_as_many_as_asked_for() {
    cases(
        IMPORTS,
        &[
            ("randomBytes(7).byteLength", "7"),
            ("hex(randomBytes(16)) === hex(randomBytes(16))", "false"),
            ("randomBytes(0)", "RangeError: randomBytes() takes a whole number from 1 to 16777216"),
            ("randomBytes(1.5)", "RangeError: randomBytes()"),
            ("randomBytes(1e9)", "RangeError: randomBytes()"),
            ("crypto.getRandomValues(new Uint8Array(64)).some((own) => own > 0)", "true"),
            ("[...crypto.getRandomValues(new Uint8Array(32).subarray(0, 0))]", "[]"),
            // Only what is shown of a buffer is filled.
            (
                "(() => { const all = new Uint8Array(32); crypto.getRandomValues(all.subarray(16)); return all.slice(0, 16).every((own) => own === 0) && all.slice(16).some((own) => own > 0) })()",
                "true",
            ),
            (
                "crypto.getRandomValues(new Float64Array(1))",
                "TypeError: crypto.getRandomValues() takes a typed array of whole numbers",
            ),
            (
                "crypto.getRandomValues(new Uint8Array(65537))",
                "RangeError: crypto.getRandomValues() fills 65536 bytes at most",
            ),
            (
                "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
                "true",
            ),
            ("crypto.randomUUID() === crypto.randomUUID()", "false"),
            ("crypto.subtle", "TypeError: squall does not have crypto.subtle: use k6/crypto"),
        ],
    );
}
