//! The file with the access key of a bucket.
use fathom_os::error::without_code;
use rusty_s3::Credentials;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The parts of a key that were found.
#[derive(Default)]
struct Found<'a> {
    key: Option<&'a str>,
    secret: Option<&'a str>,
    token: Option<&'a str>,
}

/// Reads the key and the secret: two lines, or the credentials file of AWS.
pub(crate) fn read(path: &Path) -> Result<Credentials, String> {
    let name = path.display();
    let unread = |error: io::Error| format!("{name}: {}", without_code(&error));
    let opened = File::open(path).map_err(unread)?;
    let mode = opened.metadata().map_err(unread)?.mode() & 0o777;
    // Group access is accepted: service files often belong to a group.
    if mode & 0o004 != 0 {
        return Err(format!("{name}: readable by everyone on this host (mode {mode:o}): try chmod 600"));
    }
    let mut text = String::new();
    opened.take(MAX_BYTES).read_to_string(&mut text).map_err(unread)?;
    parse(&text).ok_or_else(|| {
        format!("{name}: expected the access key and the secret in two lines, or aws_access_key_id = ...")
    })
}

fn parse(text: &str) -> Option<Credentials> {
    let is_comment = |line: &&str| line.is_empty() || line.starts_with(['#', ';']);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !is_comment(line)).collect();
    if let [key, secret] = lines[..]
        && !key.contains(['=', '['])
    {
        return Some(Credentials::new(key, secret));
    }
    let mut found = Found::default();
    for line in lines {
        if line.starts_with('[') {
            // The first section that has a key.
            if found.key.is_some() {
                break;
            }
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        let value = Some(value.trim()).filter(|value| !value.is_empty());
        match name.trim() {
            "aws_access_key_id" => found.key = value,
            "aws_secret_access_key" => found.secret = value,
            "aws_session_token" => found.token = value,
            _ => {}
        }
    }
    let (key, secret) = (found.key?, found.secret?);
    Some(match found.token {
        Some(token) => Credentials::new_with_token(key, secret, token),
        None => Credentials::new(key, secret),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let parts = |text: &str| {
            let all = parse(text)?;
            Some((all.key().to_owned(), all.secret().to_owned(), all.token().map(str::to_owned)))
        };
        let of = |key: &str, secret: &str, token: Option<&str>| {
            Some((key.to_owned(), secret.to_owned(), token.map(str::to_owned)))
        };
        assert_eq!(parts("AKIA\nab/c+d==\n"), of("AKIA", "ab/c+d==", None));
        assert_eq!(parts("# mine\n\n AKIA \r\n s \r\n"), of("AKIA", "s", None));
        let file = "[default]\naws_access_key_id = A\naws_secret_access_key=b=\n";
        assert_eq!(parts(file), of("A", "b=", None));
        let more =
            format!("[empty]\nregion = x\n{file}aws_session_token = t\n[other]\naws_access_key_id = Z\n");
        assert_eq!(parts(&more), of("A", "b=", Some("t")));
        for bad in ["", "AKIA", "a\nb\nc", "[default]\naws_access_key_id = A", "aws_access_key_id = A\nx = y"]
        {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_file_that_everyone_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        std::fs::write(&path, "A\nb\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        assert!(read(&path).unwrap_err().contains("mode 644"));
        mode(0o640);
        assert_eq!(read(&path).unwrap().key(), "A");
    }
}
