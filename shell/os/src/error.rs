//! Text of system errors.
use std::io;

/// The error text without its number: `Permission denied`, not `Permission denied (os error 13)`.
#[must_use]
pub fn without_code(error: &io::Error) -> String {
    let text = error.to_string();
    // Those of Windows end with a full stop.
    text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words.trim_end_matches('.')).to_owned()
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn words_have_no_number() {
        assert_eq!(without_code(&io::Error::from_raw_os_error(libc::EACCES)), "Permission denied");
        assert_eq!(without_code(&io::Error::other("a proxy said no")), "a proxy said no");
    }
}
