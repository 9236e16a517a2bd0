//! What is shown, as files that a person can read. `UPDATE_GOLDEN=1` rewrites them.
use fathom_layout::{Detail, Style};
use std::path::PathBuf;

pub(crate) const UNICODE: Style = Style { color: false, unicode: true, detail: Detail::Normal };
pub(crate) const ASCII: Style = Style { color: false, unicode: false, detail: Detail::Normal };

#[track_caller]
pub(crate) fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/ecn").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/ecn can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}
