//! DSCP names.

/// DSCP bits by name: RFC 4594 (`ef`, `cs0` to `cs7`, `af11` to `af43`) and RFC 8622 (`le`).
///
/// ```
/// # use fathom_units::dscp_of_name;
/// let found = ["ef", "le", "cs1", "af41", "af44", "cs8"].map(dscp_of_name);
/// assert_eq!(found, [Some(46), Some(1), Some(8), Some(34), None, None]);
/// ```
#[must_use]
pub const fn dscp_of_name(name: &str) -> Option<u8> {
    match name.as_bytes() {
        b"ef" => Some(46),
        b"le" => Some(1),
        [b'c', b's', class @ b'0'..=b'7'] => Some((*class - b'0') << 3),
        [b'a', b'f', class @ b'1'..=b'4', drop @ b'1'..=b'3'] => {
            Some(((*class - b'0') << 3) | ((*drop - b'0') << 1))
        }
        _ => None,
    }
}
