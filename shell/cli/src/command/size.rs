//! `fathom size`.
use crate::args::{SizeArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_size::{Answer, CASES, Case, Framing, Question, SizeError, Unknown};
use serde_json::{Value, json};

/// Version of the document that `--json` prints.
const SCHEMA_VERSION: u32 = 1;

pub(crate) fn run(args: &SizeArgs, when: When) -> Outcome {
    let question = question(args).map_err(Failure::input)?;
    if question == Question::default() {
        return cases(args.json, when);
    }
    let answer = question.answer().map_err(Failure::input)?;
    if args.json {
        print_json(&document(&answer))?;
    } else {
        let (style, columns) = terminal::stdout_form(when);
        terminal::print(&fathom_report::size(&answer, columns, style))?;
    }
    Ok(Exit::Healthy)
}

fn question(args: &SizeArgs) -> Result<Question, SizeError> {
    let mut question = Question {
        flows: args.flows,
        overload: args.overload.map(|share| share.0),
        arriving: args.arriving,
        fill: args.fill,
        framing: Framing { packet: args.packet, overhead: args.overhead, atm: args.atm },
        ..Question::default()
    };
    for word in fathom_size::joined(args.quantities.iter().map(String::as_str)) {
        question.add(&word)?;
        if word.to_ascii_lowercase().ends_with("bps") {
            terminal::note(&format!(
                "{word}: to tc, bps counts bytes a second; bits are written as in 10mbit"
            ));
        }
    }
    Ok(question)
}

fn cases(as_json: bool, when: When) -> Outcome {
    if as_json {
        let rows = CASES
            .iter()
            .map(case_document)
            .collect::<Result<Vec<Value>, SizeError>>()
            .map_err(Failure::input)?;
        print_json(&json!({ "cases": rows }))?;
        return Ok(Exit::Healthy);
    }
    let (style, columns) = terminal::stdout_form(when);
    terminal::print(&fathom_report::size_cases(&CASES, columns, style).map_err(Failure::input)?)?;
    Ok(Exit::Healthy)
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
        "answer": document(&answer),
    }))
}

fn document(answer: &Answer) -> Value {
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

fn print_json(result: &Value) -> Result<(), Failure> {
    let document = json!({
        "schema_version": SCHEMA_VERSION,
        "tool_version": env!("CARGO_PKG_VERSION"),
        "command": "size",
        "results": result,
    });
    terminal::print(&format!("{document:#}\n"))
}
