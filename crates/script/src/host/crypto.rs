//! The module `k6/crypto`: digests, with and without a key, and random bytes.

use std::cell::RefCell;
use std::rc::Rc;

use hmac::digest::Digest;
use hmac::digest::block_api::BlockSizeUser;
use hmac::{KeyInit, Mac, SimpleHmac};

use super::encoding;
use crate::engine::{Call, Thrown, Value};

/// Most random bytes of one call.
const MOST_RANDOM: f64 = 16_777_216.0;

const ALGORITHMS: &str =
    "md4, md5, sha1, sha256, sha384, sha512, sha512_224, sha512_256 or ripemd160";

/// A digest that is being computed.
trait Hasher {
    fn update(&mut self, bytes: &[u8]);
    /// The digest of what has come so far.
    fn digest(&self) -> Vec<u8>;
}

struct Plain<D>(D);

impl<D: Digest + Clone> Hasher for Plain<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().to_vec()
    }
}

struct Keyed<D: Digest + BlockSizeUser>(SimpleHmac<D>);

impl<D: Digest + BlockSizeUser + Clone> Hasher for Keyed<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().into_bytes().to_vec()
    }
}

fn made<D: Digest + BlockSizeUser + Clone + 'static>(key: Option<&[u8]>) -> Box<dyn Hasher> {
    // A key may have any length, so that there is always one with it.
    match key.map(SimpleHmac::<D>::new_from_slice) {
        Some(Ok(own)) => Box::new(Keyed(own)),
        _ => Box::new(Plain(D::new())),
    }
}

/// A hasher by the name of its algorithm; `None`: there is none of this name.
fn hasher(algorithm: &str, key: Option<&[u8]>) -> Option<Box<dyn Hasher>> {
    Some(match algorithm {
        "md4" => made::<md4::Md4>(key),
        "md5" => made::<md5::Md5>(key),
        "sha1" => made::<sha1::Sha1>(key),
        "sha256" => made::<sha2::Sha256>(key),
        "sha384" => made::<sha2::Sha384>(key),
        "sha512" => made::<sha2::Sha512>(key),
        "sha512_224" => made::<sha2::Sha512_224>(key),
        "sha512_256" => made::<sha2::Sha512_256>(key),
        "ripemd160" => made::<ripemd::Ripemd160>(key),
        _ => return None,
    })
}

type Kept = RefCell<Box<dyn Hasher>>;

/// The hasher behind the first argument.
fn kept(call: &Call<'_>) -> Result<Rc<Kept>, Thrown> {
    call.argument(0).behind().ok_or_else(|| Thrown::new("TypeError: a hasher of createHash()"))
}

/// `hash(algorithm, key)`: a hasher; without a key it is undefined.
fn hash<'c>(call: &Call<'c>) -> Result<Value<'c>, Thrown> {
    let (algorithm, key) = (call.argument(0).to_text()?, call.argument(1));
    let key = match key.is_undefined() {
        true => None,
        false => Some(encoding::bytes(&key, "the key of an HMAC")?),
    };
    let Some(own) = hasher(&algorithm, key.as_deref()) else {
        return Err(Thrown::new(format!(
            "TypeError: `{algorithm}` is not a hash algorithm: use {ALGORITHMS}"
        )));
    };
    let own: Rc<Kept> = Rc::new(RefCell::new(own));
    call.scope().native(own)
}

pub(super) fn add(host: &Value<'_>) -> Result<(), Thrown> {
    let scope = host.scope();
    host.set(c"hash", scope.function("hash", 2, hash)?)?;
    let update = scope.function("hashUpdate", 2, |call| {
        let bytes = encoding::bytes(&call.argument(1), "a hash")?;
        kept(call)?.borrow_mut().update(&bytes);
        Ok(call.scope().undefined())
    });
    host.set(c"hashUpdate", update?)?;
    let digest = scope.function("hashDigest", 2, |call| {
        let digest = kept(call)?.borrow().digest();
        encoding::encoded(call, &digest, &call.argument(1))
    });
    host.set(c"hashDigest", digest?)?;
    let random = scope.function("randomBytes", 1, |call| {
        let count = call.argument(0).to_number()?;
        if !(1.0..=MOST_RANDOM).contains(&count) || count.fract() != 0.0 {
            return Err(Thrown::new(format!(
                "RangeError: randomBytes() takes a whole number from 1 to {MOST_RANDOM}"
            )));
        }
        let mut bytes = vec![0; count as usize];
        getrandom::fill(&mut bytes)
            .map_err(|error| Thrown::new(format!("the host has given no random bytes: {error}")))?;
        call.scope().array_buffer(&bytes)
    });
    host.set(c"randomBytes", random?)?;
    Ok(())
}
