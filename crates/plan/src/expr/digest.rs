//! Digests of texts, with a key or without, and the forms in which they are written.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use squall_base::hex::hex;

use super::evaluated::{Evaluated, Result, bytes, text};
use super::scope::EvalError;
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    pub(super) fn of(name: &str) -> Result<Algorithm> {
        Ok(match name {
            "md5" => Algorithm::Md5,
            "sha1" => Algorithm::Sha1,
            "sha224" => Algorithm::Sha224,
            "sha256" => Algorithm::Sha256,
            "sha384" => Algorithm::Sha384,
            "sha512" => Algorithm::Sha512,
            _ => {
                let known = "md5, sha1, sha224, sha256, sha384 or sha512";
                return Err(EvalError::new(format!(
                    "unknown algorithm `{name}`: expected {known}"
                )));
            }
        })
    }

    /// The digest of what several pieces are together.
    fn digest(self, pieces: &[&[u8]]) -> Vec<u8> {
        fn over<D: Digest>(pieces: &[&[u8]]) -> Vec<u8> {
            let mut digest = D::new();
            pieces.iter().for_each(|piece| digest.update(piece));
            digest.finalize().to_vec()
        }
        match self {
            Algorithm::Md5 => over::<Md5>(pieces),
            Algorithm::Sha1 => over::<Sha1>(pieces),
            Algorithm::Sha224 => over::<Sha224>(pieces),
            Algorithm::Sha256 => over::<Sha256>(pieces),
            Algorithm::Sha384 => over::<Sha384>(pieces),
            Algorithm::Sha512 => over::<Sha512>(pieces),
        }
    }

    /// Bytes that it takes at a time.
    fn block(self) -> usize {
        match self {
            Algorithm::Md5 | Algorithm::Sha1 | Algorithm::Sha224 | Algorithm::Sha256 => 64,
            Algorithm::Sha384 | Algorithm::Sha512 => 128,
        }
    }

    /// The keyed digest of a message (RFC 2104).
    pub(super) fn hmac(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let mut block = if key.len() > self.block() { self.digest(&[key]) } else { key.to_vec() };
        block.resize(self.block(), 0);
        let padded = |pad: u8| block.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
        let inner = self.digest(&[&padded(0x36), message]);
        self.digest(&[&padded(0x5c), &inner])
    }
}

/// The digest of the first of a function's arguments, in the format that the second one names.
pub(super) fn of(algorithm: Algorithm, args: &[Evaluated<'_>]) -> Result<Value> {
    formatted(&algorithm.digest(&[bytes(&args[0])?]), args.get(1))
}

/// A digest in a format, in hexadecimal if none is given.
pub(super) fn formatted(digest: &[u8], format: Option<&Evaluated<'_>>) -> Result<Value> {
    let Some(format) = format else { return Ok(Value::text(hex(digest))) };
    Ok(match &*text(format)? {
        "hex" => Value::text(hex(digest)),
        "base64" => Value::text(STANDARD.encode(digest)),
        "base64url" => Value::text(URL_SAFE_NO_PAD.encode(digest)),
        "raw" => Value::bytes(digest),
        other => {
            let message =
                format!("unknown format `{other}`: expected hex, base64, base64url or raw");
            return Err(EvalError::new(message));
        }
    })
}

/// What some base64 stands for.
pub(super) fn decode(engine: &impl Engine, text: &[u8]) -> Result<Value> {
    let decoded =
        engine.decode(text).map_err(|error| EvalError::new(format!("invalid base64: {error}")))?;
    Ok(Value::bytes(&decoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2202 and RFC 4231: test cases 2 and 6, the second with a key longer than a block.
    #[test]
    fn keyed_digests_are_those_of_the_rfcs() {
        let long = "Test Using Larger Than Block-Size Key - Hash Key First";
        for (algorithm, key, text, expected) in [
            (
                "md5",
                "Jefe".into(),
                "what do ya want for nothing?",
                "750c783e6ab0b503eaa86e310a5db738",
            ),
            (
                "sha1",
                "Jefe".into(),
                "what do ya want for nothing?",
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            ),
            ("sha1", vec![0xaa; 80], long, "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
            (
                "sha224",
                vec![0xaa; 131],
                long,
                "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
            ),
            (
                "sha256",
                b"Jefe".to_vec(),
                "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                "sha256",
                vec![0xaa; 131],
                long,
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (
                "sha384",
                vec![0xaa; 131],
                long,
                "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
            ),
            (
                "sha512",
                vec![0xaa; 131],
                long,
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
            ),
        ] {
            let digest = Algorithm::of(algorithm).map(|own| own.hmac(&key, text.as_bytes()));
            assert_eq!(digest.map(|digest| hex(&digest)), Ok(expected.to_owned()), "{algorithm}");
        }
    }
}
