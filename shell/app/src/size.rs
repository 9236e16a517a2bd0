//! Buffer arithmetic.
use crate::AppError;
use fathom_diagnose::Diagnosis;
use fathom_report::{CommandDocument, command_document};
pub use fathom_size::{Answer, Framing, Question};
use fathom_size::{CASES, Case, SizeError, Unknown, joined};
use serde_json::{Value, json};

/// Answers `question` with `quantities` such as `375kB` and `10mbit`.
///
/// # Errors
/// If a text is not a quantity, or too few or too many quantities are given.
pub fn answer(mut question: Question, quantities: &[String]) -> Result<Answer, AppError> {
    for word in words(quantities) {
        question.add(&word).map_err(AppError::from)?;
    }
    question.answer().map_err(AppError::from)
}

/// The `quantities` with the unit `bps`, which is bytes per second in tc but bits per second for
/// most people.
#[must_use]
pub fn byte_rates(quantities: &[String]) -> Vec<String> {
    words(quantities).into_iter().filter(|word| word.to_ascii_lowercase().ends_with("bps")).collect()
}

fn words(quantities: &[String]) -> Vec<String> {
    joined(quantities.iter().map(String::as_str))
}

/// The published cases as a table.
///
/// # Errors
/// If a case has no answer.
pub fn cases(columns: u16, style: fathom_report::Style) -> Result<String, AppError> {
    fathom_report::size_cases(&CASES, columns, style).map_err(AppError::from)
}

/// The JSON document of an answer, or of the published cases if there is none.
///
/// # Errors
/// If a case has no answer.
pub fn document(answer: Option<&Answer>) -> Result<CommandDocument, AppError> {
    let (headline, data) = match answer {
        Some(answer) => (fathom_report::size_headline(answer), answer_document(answer)),
        None => {
            let rows: Result<Vec<Value>, SizeError> = CASES.iter().map(case_document).collect();
            let rows = rows.map_err(AppError::from)?;
            (format!("{} published cases", rows.len()), json!({ "cases": rows }))
        }
    };
    Ok(command_document("size", headline, &Diagnosis::default(), ("size", data)))
}

fn case_document(case: &Case) -> Result<Value, SizeError> {
    let answer = case.asked.parse::<Question>()?.answer()?;
    Ok(json!({
        "source": case.seed.name(),
        "says": case.says,
        "asked": case.asked,
        "published": case.published,
        "outcome": case.outcome()?,
        "note": case.note,
        "answer": answer_document(&answer),
    }))
}

fn answer_document(answer: &Answer) -> Value {
    json!({
        "found": found(answer.found),
        "buffer_bytes": answer.buffer.0,
        "buffer_packets": answer.packets,
        "packet_bytes": answer.framing.packet.0,
        "packet_on_line_bytes": answer.framing.on_line().0,
        "rate_bits_per_second": answer.rate.as_bits_per_second(),
        "packet_s": answer.serialization.as_secs_f64(),
        "delay_s": answer.delay.as_secs_f64(),
        "tcp": answer.needs.map(|needs| json!({
            "round_trip_s": needs.round_trip.as_secs_f64(),
            "bdp_bytes": needs.bdp.0,
            "flows": needs.flows,
        })),
        "overload": answer.growth.map(|growth| json!({
            "overload_ratio": growth.overload,
            "growth_s_per_second": growth.overload,
            "growth_bytes_per_second": growth.bytes_per_second,
            "fill_s": growth.fill.as_secs_f64(),
        })),
    })
}

const fn found(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Delay => "delay_s",
        Unknown::Buffer => "buffer_bytes",
        Unknown::Rate => "rate_bits_per_second",
        Unknown::RoundTrip => "tcp.round_trip_s",
        Unknown::Flows => "tcp.flows",
    }
}
