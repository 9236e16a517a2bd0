//! Property of arbitrary bytes as a question: an error, or an answer with positive quantities.

pub(crate) fn check(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    if let Ok(answer) = line.parse::<fathom_size::Question>().and_then(|question| question.answer()) {
        assert!(answer.buffer.0 > 0 && answer.rate.as_bits_per_second() > 0, "{line}: {answer:?}");
        assert!(answer.packets > 0.0 && answer.growth.is_none_or(|growth| growth.overload > 0.0), "{line}");
    }
}
