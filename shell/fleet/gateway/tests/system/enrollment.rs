//! Tokens, names and labels.
use crate::setup::{Setup, name, now_ms, one, until};
use fathom_fleet_agent::AgentError;
use fathom_fleet_gateway::{EventKind, Labels, TokenRequest};
use std::time::Duration;

fn status<T>(result: Result<T, AgentError>) -> (u16, String) {
    match result {
        Err(AgentError::Refused { status, why }) => (status, why),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn a_token_enrolls_one_site_once() {
    let setup = Setup::new(|_| {});
    let labels = Labels::parse([("plan", "50/10"), ("region", "süd")]).unwrap();
    let token = setup.token();
    let identity = setup.enroll_with(&token, "berlin", &labels).unwrap();
    assert_eq!((identity.site, &identity.labels), (name("berlin"), &labels));
    setup.event(|event| event.kind == EventKind::Enrolled(name("berlin")));
    // The token is used, and the name is taken.
    assert_eq!(status(setup.enroll_with(&token, "rome", &labels)).0, 401);
    std::fs::remove_file(setup.identity("berlin")).unwrap();
    let (taken, why) = status(setup.enroll_with(&setup.token(), "berlin", &labels));
    assert!(taken == 409 && why.contains("site berlin is enrolled"), "{taken} {why}");
    assert_eq!(setup.admin.sites().unwrap().len(), 1);
}

#[test]
fn a_token_expires_and_may_be_bound() {
    let setup = Setup::new(|_| {});
    let none = Labels::default();
    let brief = TokenRequest { life: Duration::from_millis(1), ..TokenRequest::default() };
    let expired = setup.admin.issue_token(&brief).unwrap();
    let issued_ms = now_ms();
    until("the end of its life", || (now_ms() > issued_ms + 1).then_some(()));
    assert_eq!(status(setup.enroll_with(&expired, "berlin", &none)), (401, "the token is expired".into()));
    let long = TokenRequest { life: Duration::from_secs(86_401), ..TokenRequest::default() };
    assert!(setup.admin.issue_token(&long).is_err());
    let labels = Labels::parse([("plan", "50/10")]).unwrap();
    let bound =
        TokenRequest { site: Some(name("berlin")), labels: Some(labels.clone()), ..TokenRequest::default() };
    let token = setup.admin.issue_token(&bound).unwrap();
    assert_eq!(status(setup.enroll_with(&token, "rome", &none)).0, 403);
    let other = Labels::parse([("plan", "1000/1000")]).unwrap();
    assert_eq!(status(setup.enroll_with(&token, "berlin", &other)).0, 403);
    assert_eq!(setup.enroll_with(&token, "berlin", &none).unwrap().labels, labels);
}

#[test]
fn a_revoked_site_is_refused_until_it_is_replaced() {
    let engine = crate::receiver::Simulated::start();
    let setup = Setup::with_engine(&engine.url);
    let key = setup.enroll("berlin");
    assert_eq!(setup.write(&key, &one("berlin")).status, 204);
    setup.admin.revoke(&name("berlin")).unwrap();
    let refused =
        until("revocation", || Some(setup.write(&key, &one("berlin"))).filter(|answer| answer.status == 403));
    assert!(refused.body.contains("site berlin is revoked"), "{refused:?}");
    assert_eq!(setup.put(&key, "sites/site=berlin/site.json", b"{}").status, 403);
    let bearer = format!("Bearer {key}");
    assert_eq!(setup.send(("POST", "/api/v1/key"), &[("Authorization", &bearer)], b"").status, 403);
    let count = engine.count();
    let replacing = TokenRequest { replaces: true, ..TokenRequest::default() };
    let token = setup.admin.issue_token(&replacing).unwrap();
    std::fs::remove_file(setup.identity("berlin")).unwrap();
    let labels = Labels::parse([("plan", "50/10")]).unwrap();
    let again = setup.enroll_with(&token, "berlin", &labels).unwrap();
    assert_eq!(setup.write(&again.key, &one("berlin")).status, 204);
    assert_eq!(engine.count(), count + 1);
    assert_eq!(setup.write(&key, &one("berlin")).status, 403);
}
