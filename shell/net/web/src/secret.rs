//! The password of a page that others can reach: stored in a file readable only by its owner, and
//! compared in constant time.
use crate::config::WebError;
use fathom_os::error::without_code;
use std::fmt::Write as _;
use std::io::Write as _;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Minimum length; shorter passwords can be guessed. A random one has 32 hexadecimal digits: 128
/// bits.
const MIN_BYTES: usize = 12;
/// Maximum length.
const MAX_BYTES: usize = 256;
const RANDOM_BYTES: usize = 16;

/// The password, which `Debug` never prints.
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    /// Reads the file, or creates it with a random password. A new password is also returned.
    pub(crate) fn load_or_make(path: &Path) -> Result<(Secret, Option<String>), WebError> {
        match std::fs::File::open(path) {
            Ok(file) => read(file, path).map(|secret| (secret, None)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let text = random_text()?;
                make(path, &text)
                    .map_err(|source| fault(path, format!("cannot be created: {}", without_code(&source))))?;
                Ok((Secret(text.clone().into_bytes()), Some(text)))
            }
            Err(error) => Err(fault(path, format!("cannot be read: {}", without_code(&error)))),
        }
    }

    /// Whether the passwords are equal, compared in constant time.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        same(&self.0, given)
    }
}

/// Compares in a time that depends only on the length of `given`.
pub(crate) fn same(secret: &[u8], given: &[u8]) -> bool {
    let mut difference = secret.len() ^ given.len();
    for (at, byte) in given.iter().enumerate() {
        let other = secret.get(at % secret.len().max(1)).copied().unwrap_or(0);
        difference |= usize::from(byte ^ other);
    }
    std::hint::black_box(difference) == 0
}

/// A random text of 128 bits.
pub(crate) fn random_text() -> Result<String, WebError> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| WebError::System(io::Error::other(error.to_string())))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn fault(path: &Path, why: String) -> WebError {
    WebError::Secret { path: path.into(), why }
}

fn read(file: std::fs::File, path: &Path) -> Result<Secret, WebError> {
    let unread = |source: io::Error| fault(path, format!("cannot be read: {}", without_code(&source)));
    let mode = file.metadata().map_err(unread)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(fault(path, format!("can be read by others (mode {mode:o}): try chmod 600")));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 2).read_to_end(&mut bytes).map_err(unread)?;
    let text = bytes.trim_ascii();
    match text.len() {
        MIN_BYTES..=MAX_BYTES => Ok(Secret(text.into())),
        n => Err(fault(path, format!("has a password of {n} bytes (allowed: {MIN_BYTES} to {MAX_BYTES})"))),
    }
}

fn make(path: &Path, text: &str) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_same_is_the_same() {
        let cases: [(&str, &str, bool); 8] = [
            ("abcd", "abcd", true),
            ("abcd", "abce", false),
            ("abcd", "abc", false),
            ("abcd", "abcda", false),
            ("abcd", "abcdabcd", false),
            ("abcd", "", false),
            ("", "", true),
            ("", "a", false),
        ];
        for (secret, given, expected) in cases {
            assert_eq!(same(secret.as_bytes(), given.as_bytes()), expected, "{secret:?} against {given:?}");
        }
    }

    #[test]
    fn a_secret_is_created_once_and_trusted_only_if_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        let (secret, shown) = Secret::load_or_make(&path).unwrap();
        assert!(secret.is(shown.unwrap().as_bytes()));
        let (_, again) = Secret::load_or_make(&path).unwrap();
        assert_eq!(again, None);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let open = Secret::load_or_make(&path).map(|_| ()).unwrap_err().to_string();
        std::fs::write(&path, "short\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let short = Secret::load_or_make(&path).map(|_| ()).unwrap_err().to_string();
        assert!(open.contains("(mode 640): try chmod 600"), "{open}");
        assert!(short.contains("5 bytes (allowed: 12 to 256)"), "{short}");
    }
}
