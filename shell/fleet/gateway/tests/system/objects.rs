//! Objects and their keys.
use crate::client::exchange;
use crate::setup::{Setup, until};

#[test]
fn objects_are_stored_under_their_keys_alone() {
    let setup = Setup::new(|_| {});
    let key = setup.enroll("berlin");
    let object = "samples/site=berlin/date=2026-11-28/07.parquet";
    let path = setup.dir.path().join("objects").join(object);
    for content in [vec![7; 3_000_000], b"newer".to_vec(), Vec::new()] {
        assert_eq!(setup.put(&key, object, &content).status, 200);
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
    for bad in [
        "samples/site=rome/a",
        "samples/site=berlin",
        "samples/site=berlin/../site=rome/a",
        "samples/site=berlin/%2e%2e/a",
        "samples/site=berlin//a",
        "samples/site=berlin/.hidden",
        "../state/registry.journal",
        "/etc/passwd",
        "other/site=berlin/a",
        "samples/site=berlin/a?b",
        "",
    ] {
        let refused = setup.put(&key, bad, b"x");
        assert!(matches!(refused.status, 400 | 404) || bad.contains('?'), "{bad}: {refused:?}");
    }
    // A file that is in the way of a folder, and the reverse.
    assert_eq!(setup.put(&key, &format!("{object}/a"), b"x").status, 400);
    assert_eq!(setup.put(&key, "samples/site=berlin/date=2026-11-28", b"x").status, 400);
    assert_eq!(setup.put("unknown", object, b"x").status, 401);
    let files: Vec<_> = std::fs::read_dir(setup.dir.path().join("objects/.incoming")).unwrap().collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn an_interrupted_object_leaves_nothing() {
    let setup = Setup::new(|_| {});
    let key = setup.enroll("berlin");
    let bearer = format!("Bearer {key}");
    let object = "/api/v1/objects/runs/site=berlin/a";
    let headers = [("Authorization", bearer.as_str()), ("Content-Length", "1000000")];
    let bytes = crate::client::request("PUT", object, &headers, &vec![1; 400_000]);
    {
        use std::io::Write;
        let mut stream = std::net::TcpStream::connect(setup.gateway.address()).unwrap();
        stream.write_all(&bytes).unwrap();
    }
    let incoming = setup.dir.path().join("objects/.incoming");
    until("removal", || {
        let refused = "fathom_gateway_requests_total{endpoint=\"objects\",outcome=\"rejected\"}";
        let is_empty = std::fs::read_dir(&incoming).unwrap().next().is_none();
        (is_empty && setup.metric(refused) == 1).then_some(())
    });
    assert!(!setup.dir.path().join("objects/runs/site=berlin/a").exists());
    // A length is required, and limited.
    let chunked = [("Authorization", bearer.as_str()), ("Transfer-Encoding", "chunked")];
    let answer =
        exchange(setup.gateway.address(), &crate::client::request("PUT", object, &chunked, b"0\r\n\r\n"));
    assert_eq!(answer.unwrap().status, 411);
    let huge = [("Authorization", bearer.as_str()), ("Content-Length", "67108865")];
    let large = exchange(setup.gateway.address(), &crate::client::request("PUT", object, &huge, b""));
    assert_eq!(large.unwrap().status, 413);
}
