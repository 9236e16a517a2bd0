//! What `fathom size` shows, as files that a person can read.
use crate::golden::{ASCII, UNICODE, golden};
use fathom_report::{size, size_cases};
use fathom_size::{CASES, Question};

const QUESTIONS: [&str; 11] = [
    "256p 10mbit",
    "10mbit 20ms",
    "375000b 300ms",
    "1gbit 100ms --flows 10000",
    "125000b 1gbit --flows 10000",
    "125000b 1gbit 100ms",
    "4mb 1gbit 10ms",
    "40s 1gbit --overload 1%",
    "48kb 5mbit --packet 1500b --overhead 8b --atm",
    "9gb 100mbit",
    "1000p 56kbit",
];

#[test]
fn answers() {
    let shown = |question: &&str| {
        let answer = question.parse::<Question>().and_then(|question| question.answer()).expect(question);
        format!("$ fathom size {question}\n{}\n", size(&answer, 80, UNICODE))
    };
    golden("size.txt", &QUESTIONS.iter().map(shown).collect::<String>());
    let answer = "256p 10mbit".parse::<Question>().and_then(|question| question.answer()).expect("an answer");
    let narrow = size(&answer, 40, ASCII);
    assert!(narrow.is_ascii() && narrow.lines().all(|line| line.len() <= 40), "{narrow}");
    golden("size-narrow.txt", &narrow);
}

#[test]
fn calculations_of_the_sources() {
    golden("size-cases.txt", &size_cases(&CASES, 100, UNICODE).expect("answers"));
    golden("size-cases-narrow.txt", &size_cases(&CASES, 48, ASCII).expect("answers"));
}
