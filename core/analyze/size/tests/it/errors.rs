//! Error messages.
use fathom_size::Question;

fn refused(line: &str) -> String {
    let error = line.parse::<Question>().and_then(|question| question.answer().map(|_| question));
    error.expect_err(line).to_string()
}

#[test]
fn errors_name_the_value_and_what_to_try() {
    let cases = [
        ("256p", "only a buffer is given, but two of"),
        ("10mbit", "only a rate is given, but two of"),
        ("20ms --flows 3", "only a delay is given, but two of"),
        ("--flows 3", "none is given, but two of"),
        ("0p 10mbit", "buffer is zero"),
        ("256p 0mbit", "rate is zero"),
        ("10mbit 0ms", "delay is zero"),
        ("10mbit 20ms --flows 0", "number of flows is zero"),
        ("10mbit 20ms --overload 0%", "overload is zero"),
        ("10mbit 20ms --fill 0s", "time to fill is zero"),
        ("10mbit 20ms --packet 0b", "packet is zero"),
        ("10mbit 20ms --packet 1mb", "invalid packet size 1.05 MB (expected at most 65,549 B"),
        ("10mbit 20ms 256p --flows 2", "all quantities are given"),
        ("10mbit 20ms --overload 1% --fill 2s 256p", "all quantities are given"),
        ("10mbit 20mbit", "\"20mbit\": the rate is already given"),
        ("1kb 2p", "\"2p\": the buffer is already given"),
        ("100mbit 1s --arriving 100mbit", "arrival rate 100Mbit does not exceed the link rate 100Mbit"),
        ("18446744073709551615p 1bit", "the buffer would be above 16 EiB"),
        ("16000000gb 1bit", "the delay would be above 584 years"),
        ("1tbit 9000000000s", "the buffer would be above 16 EiB"),
        ("16000000gb 1ns", "the rate would be above 18 Ebit/s"),
        ("1b 18000000000s", "the rate would be below 1 bit/s and send nothing"),
        ("1bit 1ns", "the buffer would be below one byte"),
        ("3apples 10mbit", "\"3apples\""),
        ("apples 10mbit", "invalid quantity \"apples\""),
        ("256 10mbit", "invalid quantity \"256\""),
        ("1.5p 10mbit", "invalid quantity \"1.5p\""),
        ("-5p 10mbit", "invalid quantity \"-5p\""),
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
fn every_error_suggests_a_remedy() {
    for line in ["256p", "0p 10mbit", "apples", "100mbit 1s --arriving 1mbit", "16000000gb 1bit"] {
        assert!(refused(line).contains("\n  try: "), "{line}");
    }
}
