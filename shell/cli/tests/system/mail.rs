//! Tests of mail through a relay: both kinds of TLS, a password, and errors.
use crate::program::{Ran, fathom, scratch};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

/// Signed the certificate of the relay below. Both are valid until 2126.
const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/authority.pem");
const PASSWORD: &str = "päss word";
/// `\0me@example.net\0päss word` as base64.
const BOTH: &str = "AG1lQGV4YW1wbGUubmV0AHDDpHNzIHdvcmQ=";

/// What a relay offers before and after TLS, and whether it starts with TLS.
#[derive(Clone, Copy)]
struct Offers {
    is_implicit: bool,
    /// Its answer to STARTTLS.
    go: &'static str,
    clear: &'static str,
    secret: &'static str,
}

trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

fn tls() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from(include_bytes!("../data/relay.der").as_slice());
    let key = PrivatePkcs8KeyDer::from(include_bytes!("../data/relay.key.der").as_slice());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key));
    Arc::new(config.unwrap())
}

fn secured(stream: TcpStream) -> Box<dyn Both> {
    Box::new(StreamOwned::new(ServerConnection::new(tls()).unwrap(), stream))
}

/// A relay for one connection. Returns what it received without and with TLS.
fn relay(offers: Offers) -> (u16, Receiver<[String; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut transcript = [String::new(), String::new()];
        let Offers { is_implicit, go, clear, secret } = offers;
        if is_implicit {
            let _ = serve(secured(stream), "220 relay ESMTP\r\n", [go, secret], &mut transcript[1]);
        } else {
            let plain: Box<dyn Both> = Box::new(stream.try_clone().unwrap());
            if serve(plain, "220 relay ESMTP\r\n", [go, clear], &mut transcript[0]) {
                let _ = serve(secured(stream), "", [go, secret], &mut transcript[1]);
            }
        }
        let _ = sender.send(transcript);
    });
    (port, received)
}

/// Serves until the client disconnects or requests TLS. Returns whether it requested TLS.
fn serve(stream: Box<dyn Both>, greeting: &str, [go, offers]: [&str; 2], transcript: &mut String) -> bool {
    let mut stream = BufReader::with_capacity(1, stream);
    let say = |far: &mut BufReader<Box<dyn Both>>, text: &str| {
        far.get_mut().write_all(text.as_bytes()).and_then(|()| far.get_mut().flush()).is_ok()
    };
    let mut is_data = false;
    let _ = say(&mut stream, greeting);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        *transcript += &line;
        let answer = match line.trim_end() {
            "." => "250 queued",
            _ if is_data => continue,
            "STARTTLS" => go,
            "DATA" => "354 go on",
            "AUTH LOGIN" => "334 VXNlcm5hbWU6",
            "bWVAZXhhbXBsZS5uZXQ=" => "334 UGFzc3dvcmQ6",
            "cMOkc3Mgd29yZA==" => "235 welcome",
            line if line.starts_with("EHLO") => offers,
            line if line == format!("AUTH PLAIN {BOTH}") => "235 welcome",
            line if line.starts_with("AUTH") => "535 5.7.8 no",
            _ => "250 ok",
        };
        is_data = line.trim_end() == "DATA";
        let is_said = say(&mut stream, &format!("{answer}\r\n"));
        if !is_said || line.trim_end() == "STARTTLS" {
            return is_said;
        }
    }
}

/// The output of `fathom watch test-alert` for a receiver with these keys.
fn test_alert(name: &str, keys: &str, authority: Option<&str>) -> Ran {
    let dir = scratch().join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let [password, open] = [("password", 0o600), ("open", 0o644)].map(|(file, mode)| {
        let path = dir.join(file);
        std::fs::write(&path, format!("{PASSWORD}\n")).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    });
    let text = format!(
        "[watch]\nstore = '{}'\n[[target]]\nname = 'a'\nhost = '127.0.0.1'\n[[receiver]]\nname = 'me'\n\
         mail = 'you@example.net'\nfrom = 'me@example.net'\ntimeout = '20s'\n{}\n",
        dir.join("store").display(),
        keys.replace("PASSWORD", &password).replace("OPEN", &open)
    );
    let file = dir.join("watch.toml");
    std::fs::write(&file, text).unwrap();
    let mut command = fathom(&["watch", "test-alert", file.to_str().unwrap()]);
    command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
    command.envs(authority.map(|path| ("SSL_CERT_FILE", path)));
    command.output().unwrap().into()
}

const LOGIN: &str = "user = 'me@example.net'\npassword_file = 'PASSWORD'";

#[test]
fn by_starttls_with_a_password() {
    let offers = Offers {
        is_implicit: false,
        go: "220 go on",
        clear: "250-relay\r\n250-STARTTLS\r\n250 8BITMIME",
        secret: "250-relay\r\n250 AUTH LOGIN PLAIN",
    };
    let (port, received) = relay(offers);
    let keys = format!("relay = '127.0.0.1:{port}'\ntls = 'starttls'\n{LOGIN}");
    let ran = test_alert("mail-starttls", &keys, Some(AUTHORITY));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "me  mail  sent    250 queued\n"),
        "{}",
        ran.describe()
    );
    let [clear, secret] = received.recv().unwrap();
    let heads: Vec<&str> = clear.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(heads, ["EHLO", "STARTTLS"], "nothing else is said in clear");
    assert!(secret.contains(BOTH) && secret.contains("RCPT TO:<you@example.net>"), "{secret}");
    assert!(secret.contains("Subject: [fathom] TEST: test raised: test test"), "{secret}");
}

#[test]
fn by_tls_from_the_first_byte_with_auth_login() {
    let offers = Offers { is_implicit: true, go: "", clear: "", secret: "250-relay\r\n250 AUTH LOGIN" };
    let (port, received) = relay(offers);
    let keys = format!("relay = '127.0.0.1:{port}'\ntls = 'tls'\n{LOGIN}");
    let ran = test_alert("mail-tls", &keys, Some(AUTHORITY));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "me  mail  sent    250 queued\n"),
        "{}",
        ran.describe()
    );
    assert!(received.recv().unwrap()[1].contains("AUTH LOGIN"));
}

/// For each fault the error, and that nothing was sent without TLS.
#[test]
fn a_password_is_not_sent_unprotected() {
    let all = Offers { is_implicit: false, go: "220 go on", clear: "250 STARTTLS", secret: "250 AUTH PLAIN" };
    let none = Offers { clear: "250 8BITMIME", ..all };
    let longer = Offers { go: "220 go on\r\n250 AUTH PLAIN", ..all };
    let strange = Offers { secret: "250 AUTH XOAUTH2", ..all };
    let wrong = "user = 'other'\npassword_file = 'PASSWORD'";
    let missing = "user = 'me'\npassword_file = '/nowhere/password'";
    let open = "user = 'me@example.net'\npassword_file = 'OPEN'";
    for (name, offers, login, authority, want) in [
        ("mail-stranger", all, LOGIN, None, "invalid peer certificate: UnknownIssuer"),
        ("mail-clear", none, LOGIN, Some(AUTHORITY), "the relay does not offer STARTTLS"),
        ("mail-longer", longer, LOGIN, Some(AUTHORITY), "the relay sent unencrypted data after STARTTLS"),
        ("mail-strange", strange, LOGIN, Some(AUTHORITY), "the relay offers only the login methods XOAUTH2"),
        ("mail-refused", all, wrong, Some(AUTHORITY), "535 5.7.8 no (at AUTH PLAIN)"),
        (
            "mail-open",
            all,
            open,
            Some(AUTHORITY),
            "open: readable by everyone on this host (mode 644): try chmod 600",
        ),
        ("mail-missing", all, missing, Some(AUTHORITY), "/nowhere/password: No such file"),
    ] {
        let (port, received) = relay(offers);
        let keys = format!("relay = '127.0.0.1:{port}'\ntls = 'starttls'\n{login}");
        let ran = test_alert(name, &keys, authority);
        assert_eq!(ran.code, Some(3), "{name}: {}", ran.describe());
        assert!(
            ran.out.starts_with("me  mail  FAILED  ") && ran.out.contains(want),
            "{name}: {}",
            ran.describe()
        );
        let [clear, secret] = received.recv().unwrap();
        assert!(!clear.contains("AUTH") && !clear.contains("MAIL") && !secret.contains("MAIL"), "{name}");
    }
}

/// A relay that greets without TLS where TLS was expected.
#[test]
fn a_port_of_the_other_tls_mode_is_reported() {
    let (port, _received) = relay(Offers { is_implicit: false, go: "", clear: "250 relay", secret: "" });
    let ran = test_alert("mail-other", &format!("relay = '127.0.0.1:{port}'\ntls = 'tls'"), Some(AUTHORITY));
    assert!(ran.out.contains("the reply is not TLS (if the port starts unencrypted"), "{}", ran.describe());
}
