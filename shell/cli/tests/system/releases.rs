//! Results of released versions stay readable: `testdata/results/VERSION-COMMAND.json.gz`, each as
//! that version wrote it. A release adds its own.
use crate::program::{Words, run};
use std::path::Path;

#[test]
fn results_of_every_release_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/results").canonicalize().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for command in ["v0.2.0-sim", "v0.2.0-test", "v0.2.0-trace", "v1-trace"] {
        assert!(names.contains(&format!("{command}.json.gz")), "{names:?}");
    }
    let mut words = Words::of("releases", &folder);
    for name in &names {
        let document = run(&["report", &folder.join(name).to_string_lossy(), "--json"]).document();
        assert!(!document["findings"].as_array().unwrap().is_empty(), "{name}: {document:#}");
        let is_bad = document["verdict"]["health"] == "bloated";
        words.run(&["report", name, "-q"], i32::from(is_bad));
    }
}
