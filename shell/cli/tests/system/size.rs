//! Tests of `fathom size`.
use crate::program::{Words, run, scratch};

#[test]
fn an_answer_as_a_document() {
    let document = run(&["size", "256p", "10mbit", "--json"]).document();
    assert_eq!(document["size"]["delay_s"], 0.310_067_2);
    assert_eq!(document["size"]["found"], "delay_s");
    run(&["size", "1gbit", "100ms", "--flows", "10000", "--json"]).document();
    run(&["size", "1gbit", "4mb", "--overload", "1%", "--json"]).document();
    let cases = run(&["size", "--json"]).document();
    assert!(cases["size"]["cases"].as_array().unwrap().len() > 30);
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
