//! Keys of a run. What a plan holds (job and files) is encrypted with the run's key before it is given to the server, and the
//! key is sealed for each node that takes part: the server and other clients see neither.
//!
//! Encrypted: a random nonce of 12 bytes, then ChaCha20-Poly1305's text and tag (ring). Sealed: an nkeys box, from the
//! controller's curve key to the node's.

use std::fmt;

use nkeys::XKey;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

/// Bytes of a run's key.
const KEY_BYTES: usize = 32;
/// Bytes of a public key as text.
const PUBLIC_KEY_BYTES: usize = 56;

/// Why something stays shut. Which of its bytes are wrong is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsealed {
    /// Too short, tampered with, or made for another key.
    Broken,
    /// A public key that is none.
    NotAKey,
    /// The system gives no random numbers.
    NoRandom,
}

impl fmt::Display for Unsealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsealed::Broken => "it is damaged, or was sealed for another node or run",
            Unsealed::NotAKey => "the node's public key is none",
            Unsealed::NoRandom => "the system gives no random numbers",
        })
    }
}

impl std::error::Error for Unsealed {}

/// The key of a run.
#[derive(Clone)]
pub struct RunKey {
    bytes: [u8; KEY_BYTES],
}

impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunKey")
    }
}

impl Drop for RunKey {
    fn drop(&mut self) {
        self.bytes.fill(0);
        // Without this the compiler may leave the bytes as they are, since nobody reads them.
        std::hint::black_box(&self.bytes);
    }
}

impl RunKey {
    /// Draws one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new() -> Result<RunKey, Unsealed> {
        Ok(RunKey { bytes: random()? })
    }

    /// One that was kept in a file of the controller's, to resume a run.
    ///
    /// # Errors
    /// It has not 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<RunKey, Unsealed> {
        Ok(RunKey { bytes: bytes.try_into().map_err(|_| Unsealed::Broken)? })
    }

    /// Its bytes, to keep them in such a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Encrypts, under a nonce drawn for this once.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, Unsealed> {
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut sealed = Vec::with_capacity(NONCE_LEN + plain.len() + CHACHA20_POLY1305.tag_len());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(plain);
        let tag = self
            .cipher()?
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::empty(),
                &mut sealed[NONCE_LEN..],
            )
            .map_err(|_| Unsealed::Broken)?;
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Decrypts.
    ///
    /// # Errors
    /// It was tampered with, or encrypted with another key.
    pub fn decrypt(&self, sealed: &[u8]) -> Result<Vec<u8>, Unsealed> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN).ok_or(Unsealed::Broken)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Unsealed::Broken)?;
        let mut text = text.to_vec();
        let length = self
            .cipher()?
            .open_in_place(nonce, Aad::empty(), &mut text)
            .map_err(|_| Unsealed::Broken)?
            .len();
        text.truncate(length);
        Ok(text)
    }

    /// Seals this key for a node, by its public key; only that node can open it.
    ///
    /// # Errors
    /// The public key is none.
    pub fn seal_for(&self, public_key: &str, sender: &NodeKey) -> Result<Vec<u8>, Unsealed> {
        let node = XKey::from_public_key(public_key).map_err(|_| Unsealed::NotAKey)?;
        let sealed = sender.0.seal(&self.bytes, &node).map_err(|_| Unsealed::Broken)?;
        let mut letter = sender.public().into_bytes();
        letter.extend_from_slice(&sealed);
        Ok(letter)
    }

    fn cipher(&self) -> Result<LessSafeKey, Unsealed> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.bytes).map_err(|_| Unsealed::Broken)?;
        Ok(LessSafeKey::new(key))
    }
}

/// The curve key of a process: a node's, for which things are sealed, or a controller's, who seals. It lives as long as the
/// process. Its library wipes the secret part.
pub struct NodeKey(XKey);

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeKey({})", self.public())
    }
}

impl NodeKey {
    /// Draws one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new() -> Result<NodeKey, Unsealed> {
        Ok(NodeKey(XKey::new_from_raw(random()?)))
    }

    /// The part that others may know.
    pub fn public(&self) -> String {
        self.0.public_key()
    }

    /// Opens a run's key that was sealed for this node.
    ///
    /// # Errors
    /// It was not, or was tampered with.
    pub fn open(&self, letter: &[u8]) -> Result<RunKey, Unsealed> {
        let (sender, sealed) = letter.split_at_checked(PUBLIC_KEY_BYTES).ok_or(Unsealed::Broken)?;
        let sender = std::str::from_utf8(sender).map_err(|_| Unsealed::Broken)?;
        let sender = XKey::from_public_key(sender).map_err(|_| Unsealed::Broken)?;
        let mut bytes = self.0.open(sealed, &sender).map_err(|_| Unsealed::Broken)?;
        let key = RunKey::from_bytes(&bytes);
        bytes.fill(0);
        key
    }
}

fn random<const N: usize>() -> Result<[u8; N], Unsealed> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Unsealed::NoRandom)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_encrypted_is_read_with_its_key_alone() {
        let (key, other) = (RunKey::new().unwrap(), RunKey::new().unwrap());
        for plain in [&b""[..], b"x", &[7; 100_000]] {
            let sealed = key.encrypt(plain).unwrap();
            assert_eq!(key.decrypt(&sealed).unwrap(), plain);
            assert_eq!(other.decrypt(&sealed), Err(Unsealed::Broken));
            assert_ne!(sealed, key.encrypt(plain).unwrap(), "each has a nonce of its own");
        }
    }

    #[test]
    fn what_was_tampered_with_or_cut_off_stays_shut() {
        let key = RunKey::new().unwrap();
        let sealed = key.encrypt(b"password").unwrap();
        for at in 0..sealed.len() {
            let mut tampered = sealed.clone();
            tampered[at] ^= 1;
            assert_eq!(key.decrypt(&tampered), Err(Unsealed::Broken), "byte {at}");
            assert_eq!(key.decrypt(&sealed[..at]), Err(Unsealed::Broken), "{at} bytes");
        }
    }

    #[test]
    fn a_key_is_for_its_node_alone() {
        let (controller, node, other) =
            (NodeKey::new().unwrap(), NodeKey::new().unwrap(), NodeKey::new().unwrap());
        let key = RunKey::new().unwrap();
        let letter = key.seal_for(&node.public(), &controller).unwrap();
        assert_eq!(node.open(&letter).unwrap().bytes(), key.bytes());
        assert_eq!(other.open(&letter).unwrap_err(), Unsealed::Broken);
        for at in 0..letter.len() {
            let mut tampered = letter.clone();
            tampered[at] ^= 1;
            assert_eq!(node.open(&tampered).unwrap_err(), Unsealed::Broken, "byte {at}");
            assert_eq!(node.open(&letter[..at]).unwrap_err(), Unsealed::Broken, "{at} bytes");
        }
        assert_eq!(key.seal_for("XABC", &controller).unwrap_err(), Unsealed::NotAKey);
        assert_eq!(key.seal_for("", &controller).unwrap_err(), Unsealed::NotAKey);
    }

    #[test]
    fn keys_are_not_shown() {
        let (key, node) = (RunKey::new().unwrap(), NodeKey::new().unwrap());
        assert_eq!(format!("{key:?}"), "RunKey");
        assert_eq!(format!("{node:?}"), format!("NodeKey({})", node.public()));
    }

    proptest! {
        #[test]
        fn bytes_from_elsewhere_open_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(RunKey::from_bytes(&[3; 32]).unwrap().decrypt(&bytes).is_err());
            prop_assert!(NodeKey::new().unwrap().open(&bytes).is_err());
        }
    }
}
