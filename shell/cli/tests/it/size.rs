//! `fathom size` as its user types it.
use crate::program::{Words, run, scratch};

#[test]
fn an_answer_as_a_document() {
    let document: serde_json::Value =
        serde_json::from_str(&run(&["size", "256p", "10mbit", "--json"]).out).unwrap();
    assert_eq!(document["results"]["delay_s"], 0.310_067_2);
    assert_eq!(document["results"]["found"], "delay_s");
    let cases: serde_json::Value = serde_json::from_str(&run(&["size", "--json"]).out).unwrap();
    assert!(cases["results"]["cases"].as_array().unwrap().len() > 30);
}

#[test]
fn the_words_of_answers_and_refusals() {
    let mut words = Words::of("size", &scratch());
    words.run(&["size", "256p", "10mbit"], 0);
    for nonsense in ["256p", "apples", "0p 1mbit"] {
        let line: Vec<&str> = std::iter::once("size").chain(nonsense.split(' ')).collect();
        words.run(&line, 2);
    }
}
