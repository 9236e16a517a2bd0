//! Identities, and gateways with TLS.
use crate::setup::{config, name, now_ms};
use fathom_fleet_agent::{AgentError, Enrollment, Identity, KeyKeeper, Trust, enroll};
use fathom_fleet_gateway::{Admin, Certificate, Gateway, GatewayConfig, Labels, TokenRequest};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_gateway_is_known_by_its_fingerprint() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    std::fs::create_dir(&state).unwrap();
    let certificate =
        Some(Certificate::SelfSigned { folder: state.clone(), names: vec!["localhost".into()] });
    let gateway = Gateway::start(&GatewayConfig { certificate, ..config(state.clone()) }).unwrap();
    let token = Admin::open(&state).unwrap().issue_token(&TokenRequest::default()).unwrap();
    let with = |trust: Trust| Enrollment {
        url: format!("https://localhost:{}", gateway.address().port()),
        token: token.clone(),
        site: name("berlin"),
        labels: Labels::default(),
        trust,
    };
    let path = dir.path().join("identity.json");
    let own = gateway.fingerprint().unwrap().to_owned();
    let other = own.replace('A', "B").replacen(|c: char| c.is_ascii_digit(), "A", 1);
    let refused = enroll(&with(Trust::Fingerprint(other)), &path, now_ms()).unwrap_err();
    assert!(
        matches!(&refused, AgentError::Fingerprint { found } if *found == own.replace(':', "").to_lowercase()),
        "{refused}"
    );
    let unknown = enroll(&with(Trust::System), &path, now_ms()).unwrap_err();
    assert!(matches!(unknown, AgentError::Unavailable { .. }), "{unknown}");
    let identity = enroll(&with(Trust::Fingerprint(own)), &path, now_ms()).unwrap();
    assert_eq!(Identity::load(&path).unwrap(), identity);
    KeyKeeper::new(&path).unwrap().rotate(now_ms()).unwrap();
    // The same with the gateway's own file.
    let admin = Admin::open(&state).unwrap();
    let again = Enrollment {
        token: admin.issue_token(&TokenRequest::default()).unwrap(),
        site: name("rome"),
        ..with(Trust::CaFile(state.join("page-certificate.pem")))
    };
    enroll(&again, &dir.path().join("rome.json"), now_ms()).unwrap();
}

#[test]
fn an_identity_is_private_and_written_once() {
    let setup = crate::setup::Setup::new(|_| {});
    setup.enroll("berlin");
    let path = setup.identity("berlin");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let token = setup.token();
    let again = setup.enroll_with(&token, "berlin", &Labels::default()).unwrap_err();
    assert!(matches!(again, AgentError::File { .. }), "{again}");
    // The token was not used for that.
    setup.enroll_with(&token, "rome", &Labels::default()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(Identity::load(&path).unwrap_err().to_string().contains("chmod 600"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(!format!("{:?}", Identity::load(&path).unwrap()).contains("fathom-key"));
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() - 2 {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(Identity::load(&path).is_err(), "cut at {cut}");
    }
    let journal = setup.dir.path().join("state/registry.journal");
    assert_eq!(std::fs::metadata(&journal).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&journal).unwrap();
    assert!(!text.contains("fathom-key") && !text.contains("fathom-token"));
    for url in ["http://192.0.2.1:1", "https://", "ftp://a", "https://a/b", "a"] {
        let enrollment = Enrollment {
            url: url.into(),
            token: "t".into(),
            site: name("x"),
            labels: Labels::default(),
            trust: Trust::System,
        };
        let refused = enroll(&enrollment, &setup.identity("x"), now_ms()).unwrap_err();
        assert!(matches!(refused, AgentError::Url(_)), "{url}: {refused}");
    }
}
