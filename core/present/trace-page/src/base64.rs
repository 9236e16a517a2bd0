//! Base64 (RFC 4648 section 4): bytes inside a page.
use alloc::string::String;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` to `text`.
pub(crate) fn append(text: &mut String, bytes: &[u8]) {
    text.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for nth in 0..4 {
            let sextet = (word >> (18 - 6 * nth)) as usize & 63;
            let symbol = if nth > three.len() { b'=' } else { ALPHABET.get(sextet).copied().unwrap_or(b'=') };
            text.push(char::from(symbol));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in vectors {
            let mut text = String::new();
            append(&mut text, plain.as_bytes());
            assert_eq!(text, coded);
        }
    }
}
