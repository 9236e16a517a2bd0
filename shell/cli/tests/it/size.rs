//! `fathom size` as its user types it.
use crate::program::run;

#[test]
fn an_answer_in_words_and_as_a_document() {
    let shown = run(&["size", "256p", "10mbit"]);
    assert!(shown.code == Some(0) && shown.out.starts_with("310 ms: "), "{}", shown.told());
    let document: serde_json::Value =
        serde_json::from_str(&run(&["size", "256p", "10mbit", "--json"]).out).unwrap();
    assert_eq!(document["results"]["delay_s"], 0.310_067_2);
    assert_eq!(document["results"]["found"], "delay_s");
    let cases: serde_json::Value = serde_json::from_str(&run(&["size", "--json"]).out).unwrap();
    assert!(cases["results"]["cases"].as_array().unwrap().len() > 30);
}

#[test]
fn alone_it_tells_where_a_source_slips() {
    let shown = run(&["size"]);
    assert!(shown.code == Some(0) && shown.out.contains("Wrong by ten"), "{}", shown.told());
}

#[test]
fn nonsense_is_one_clear_error() {
    for (words, told) in [
        ("256p", "two of buffer, rate and delay"),
        ("apples", "is no quantity"),
        ("0p 1mbit", "buffer is zero"),
    ] {
        let line: Vec<&str> = std::iter::once("size").chain(words.split(' ')).collect();
        let ran = run(&line);
        assert!(
            ran.code == Some(2) && ran.err.starts_with("fathom size: ") && ran.err.contains(told),
            "{}",
            ran.told()
        );
    }
}
