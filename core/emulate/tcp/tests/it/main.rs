//! Tests of TCP: windows after each ACK, closed forms and published values.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod bbr;
mod bbr3;
mod kernel;
mod kinds;
mod laws;
mod line;
mod pair;
mod path;
mod receiver;
mod recent;
mod repairs;
mod response;
mod rough;
mod storms;
mod traces;

/// Compares with a file of `golden/tcp`. `UPDATE_GOLDEN=1` rewrites it.
fn golden(name: &str, got: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/tcp").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}
