//! Values of 16 bytes that are written as 32 hexadecimal digits.
use alloc::string::String;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The text is not 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HexError;

impl fmt::Display for HexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected 32 hexadecimal digits")
    }
}
impl core::error::Error for HexError {}

/// Defines a type of 16 bytes.
macro_rules! sixteen_bytes {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 16]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
        impl FromStr for $name {
            type Err = HexError;
            fn from_str(text: &str) -> Result<Self, HexError> {
                from_hex(text).map($name)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

sixteen_bytes! {
    /// 128 unpredictable bits that identify a session.
    SessionId
}
sixteen_bytes! {
    /// 128 random bits, used once.
    Nonce
}
sixteen_bytes! {
    /// A message authentication code: HMAC-SHA-256, of which the first 128 bits are sent (RFC 2104
    /// section 5).
    Mac
}

impl Mac {
    /// Compares in constant time.
    #[must_use]
    pub fn is(&self, other: &Mac) -> bool {
        self.0.iter().zip(&other.0).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

fn from_hex(text: &str) -> Result<[u8; 16], HexError> {
    let digits = text.as_bytes();
    if digits.len() != 32 {
        return Err(HexError);
    }
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
    }
    Ok(bytes)
}

fn hex_digit(digit: u8) -> Result<u8, HexError> {
    let value = char::from(digit).to_digit(16).ok_or(HexError)?;
    u8::try_from(value).map_err(|_| HexError)
}
