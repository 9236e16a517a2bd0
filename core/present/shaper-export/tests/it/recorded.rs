//! Queues of NetworkManager, as the real `nmcli` has read them: see `testdata/networkmanager`.
use crate::golden::lines;
use fathom_shaper_export::{Platform, export};
use std::collections::BTreeSet;

const KEYFILES: &str = include_str!("../../../../../testdata/networkmanager/keyfiles.txt");

/// The words of a qdisc as pairs. A keyfile spells flags as `ecn true`, and sorts attributes.
fn attributes(text: &str) -> BTreeSet<String> {
    let text = text.replace("tbf ", "kind tbf ").replace("fq_codel ", "kind fq_codel ");
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| *word != "true" && *word != "root").collect();
    let mut words = words.into_iter().peekable();
    let mut found = BTreeSet::new();
    while let Some(key) = words.next() {
        let value = if key == "ecn" { None } else { words.next() };
        found.insert(format!("{key} {}", value.unwrap_or("true")));
    }
    found
}

#[test]
fn nmcli_reads_what_was_exported() {
    let sections: Vec<&str> = KEYFILES.split("[tc]\n").skip(1).collect();
    let lines = lines(Platform::NetworkManager);
    assert_eq!(sections.len(), lines.len());
    for ((name, line), section) in lines.iter().zip(sections) {
        let text = export(Platform::NetworkManager, line).expect(name).text;
        let queues = text.split("tc.qdiscs \"root ").nth(1).and_then(|rest| rest.split('"').next());
        let (outer, inner) =
            queues.and_then(|queues| queues.split_once(", parent 1:1 ")).expect("two queues");
        let read = |key: &str| section.lines().find_map(|row| row.strip_prefix(key)).map(attributes);
        assert_eq!(read("qdisc.root="), Some(attributes(outer)), "{name}");
        assert_eq!(read("qdisc.1:1="), Some(attributes(inner)), "{name}");
    }
}
