//! The data of a small model run, which the tests of the page's script read. `UPDATE_GOLDEN=1`
//! rewrites it.
use crate::sawtooth::{BEGIN, FLOW, Sawtooth};
use fathom_trace_page::{Limits, Recorder, Words};
use std::path::PathBuf;

#[track_caller]
fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/timeline").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/timeline can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it");
}

#[test]
fn data_and_its_content() {
    let mut recorder = Recorder::new(&[FLOW], Limits::default(), Some(BEGIN));
    let mut model = Sawtooth::new(&mut recorder, 1, 10, 20);
    model.run(1_500);
    let truth = model.truth.clone();
    let page = recorder.finish(&Words::default());
    let data = page.split("id=\"trace-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    golden("sawtooth.b64", &format!("{data}\n"));
    let counts = [
        ("segments", truth.segments),
        ("acks", truth.acks),
        ("losses", truth.losses),
        ("retransmissions", truth.retransmissions),
    ];
    let rows: Vec<String> = counts.iter().map(|(name, n)| format!("  \"{name}\": {n}")).collect();
    golden("sawtooth.json", &format!("{{\n{}\n}}\n", rows.join(",\n")));
}
