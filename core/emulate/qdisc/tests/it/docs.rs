//! `docs/queues.md` documents every discipline and every parameter.
use fathom_qdisc::Spec;
use std::path::Path;

fn known(text: &str) -> Vec<String> {
    let error = text.parse::<Spec>().expect_err(text).to_string();
    let (_, list) = error.split_once("(known: ").unwrap_or_else(|| panic!("{error}"));
    list.trim_end_matches(')').split(", ").map(String::from).collect()
}

#[test]
fn every_discipline_has_a_section_with_all_its_words() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/queues.md");
    let text = std::fs::read_to_string(path).unwrap();
    for name in known("unheard-of") {
        let section = text.split("\n## ").find(|section| section.starts_with(&format!("`{name}`\n")));
        let section = section.unwrap_or_else(|| panic!("no section of {name}"));
        let words: Vec<&str> = section.split(|c: char| !(c.is_alphanumeric() || "-_{".contains(c))).collect();
        for word in known(&format!("{name} unheard-of")) {
            assert!(words.contains(&word.as_str()), "{name}: nothing on \"{word}\"");
        }
    }
}
