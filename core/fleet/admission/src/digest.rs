//! Secrets and their SHA-256.
use alloc::string::String;
use core::fmt;
use sha2::{Digest as _, Sha256};

/// What each key begins with, so that scanners for leaked secrets can find it.
pub const KEY_PREFIX: &str = "fathom-key-";
/// What each enrollment token begins with.
pub const TOKEN_PREFIX: &str = "fathom-token-";

const HEX: &[u8; 16] = b"0123456789abcdef";

/// A key or token of 256 random bits.
#[must_use]
pub fn secret(prefix: &str, random: &[u8; 32]) -> String {
    let mut text = String::from(prefix);
    push_hex(&mut text, random);
    text
}

/// The SHA-256 of a key or token, which is all that the registry stores.
///
/// A secret of 256 random bits needs no salt and no slow hash. Digests are looked up in a map, and
/// the time that takes may show the first bits of a stored digest. Nobody can find a key with such
/// a digest faster than by guessing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a secret, or of other bytes.
    #[must_use]
    pub fn of(secret: impl AsRef<[u8]>) -> Digest {
        Digest(Sha256::digest(secret.as_ref()).into())
    }
    /// The digest written as 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Digest> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(*pair.first()?)? << 4 | nibble(*pair.last()?)?;
        }
        Some(Digest(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        push_hex(&mut text, &self.0);
        f.write_str(&text)
    }
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(HEX[usize::from(digit)]));
        }
    }
}

fn nibble(digit: u8) -> Option<u8> {
    HEX.iter().position(|one| *one == digit).and_then(|at| u8::try_from(at).ok())
}

/// The checksum of a line of the journal: the first four bytes of its SHA-256.
pub(crate) fn checksum(line: &str) -> String {
    let whole: [u8; 32] = Sha256::digest(line.as_bytes()).into();
    let mut text = String::new();
    push_hex(&mut text, &whole[..4]);
    text
}

/// A number for a list of labels. The salt is secret, so that nobody can choose labels with the
/// number of others.
pub(crate) fn series_number(salt: &[u8; 16], labels: &[(&str, &str)]) -> u64 {
    let mut hash = Sha256::new();
    hash.update(salt);
    for text in labels.iter().flat_map(|(name, value)| [name, value]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    let whole: [u8; 32] = hash.finalize().into();
    whole[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_digest_is_the_sha256_in_hexadecimal() {
        // FIPS 180-2, appendix B.1.
        let digest = Digest::of("abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Digest::parse(text), Some(digest));
        assert_eq!(Digest::parse(&text.to_uppercase()), None);
        assert_eq!(Digest::parse(&text[1..]), None);
        assert_eq!(secret("x-", &[0xa5; 32]).len(), 66);
    }

    #[test]
    fn labels_are_not_confused_by_where_they_are_cut() {
        let number = |labels: &[(&str, &str)]| series_number(&[1; 16], labels);
        assert_ne!(number(&[("a", "bc")]), number(&[("ab", "c")]));
        assert_ne!(number(&[("a", "b")]), series_number(&[2; 16], &[("a", "b")]));
    }
}
