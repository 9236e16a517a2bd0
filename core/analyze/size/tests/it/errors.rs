//! Error messages.
use fathom_size::Question;

fn refused(line: &str) -> String {
    let error = line.parse::<Question>().and_then(|question| question.answer().map(|_| question));
    error.expect_err(line).to_string()
}

#[test]
fn errors_name_the_value_and_what_to_try() {
    let cases = [
        ("256p", "a buffer alone says nothing"),
        ("10mbit", "a rate alone says nothing"),
        ("20ms --flows 3", "a delay alone says nothing"),
        ("--flows 3", "nothing alone says nothing"),
        ("0p 10mbit", "buffer is zero"),
        ("256p 0mbit", "rate is zero"),
        ("10mbit 0ms", "delay is zero"),
        ("10mbit 20ms --flows 0", "number of flows is zero"),
        ("10mbit 20ms --overload 0%", "overload is zero"),
        ("10mbit 20ms --fill 0s", "time to fill is zero"),
        ("10mbit 20ms --packet 0b", "packet is zero"),
        ("10mbit 20ms --packet 1mb", "a packet of 1.05 MB does not exist"),
        ("10mbit 20ms 256p --flows 2", "all quantities are given"),
        ("10mbit 20ms --overload 1% --fill 2s 256p", "all quantities are given"),
        ("10mbit 20mbit", "\"20mbit\" is a second rate"),
        ("1kb 2p", "\"2p\" is a second buffer"),
        ("100mbit 1s --arriving 100mbit", "100Mbit arriving at a link of 100Mbit is no overload"),
        ("18446744073709551615p 1bit", "the buffer would be beyond 16 EiB"),
        ("16000000gb 1bit", "the delay would be beyond 584 years"),
        ("1tbit 9000000000s", "the buffer would be beyond 16 EiB"),
        ("16000000gb 1ns", "the rate would be beyond 18 Ebit/s"),
        ("1b 18000000000s", "the rate would be beyond 1 bit/s: it would send nothing"),
        ("1bit 1ns", "the buffer would be beyond one byte"),
        ("3apples 10mbit", "\"3apples\""),
        ("apples 10mbit", "\"apples\" is no quantity"),
        ("256 10mbit", "\"256\" is no quantity"),
        ("1.5p 10mbit", "\"1.5p\" is no quantity"),
        ("-5p 10mbit", "\"-5p\" is no quantity"),
        ("101% 10mbit 1s", "too large"),
        ("99999999999999999999b 10mbit", "too large"),
        ("10xbit 1s", "unknown unit"),
    ];
    for (line, words) in cases {
        let got = refused(line);
        assert!(got.contains(words), "{line}: {got}");
    }
}

#[test]
fn every_refusal_of_ours_says_what_to_try() {
    for line in ["256p", "0p 10mbit", "apples", "100mbit 1s --arriving 1mbit", "16000000gb 1bit"] {
        assert!(refused(line).contains("\n  try: "), "{line}");
    }
}
