//! `fathom size`: buffer arithmetic.
use crate::args::SizeArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console, warn};
use fathom_app::size::{self, Framing, Question};

pub(crate) fn run(args: &SizeArgs, console: Console) -> Outcome {
    for word in size::byte_rates(&args.quantities) {
        warn(&format!("warning: {word}: bps means bytes per second, as in tc; write bits as in 10mbit"));
    }
    let question = Question {
        flows: args.flows,
        overload: args.overload.map(|share| share.0),
        arriving: args.arriving,
        fill: args.fill,
        framing: Framing { packet: args.packet, overhead: args.overhead, atm: args.atm },
        ..Question::default()
    };
    let is_empty = args.quantities.is_empty() && question == Question::default();
    let answer = if is_empty { None } else { Some(size::answer(question, &args.quantities)?) };
    let (style, columns) = console.stdout_form();
    let text = match &answer {
        _ if args.json => format!("{:#}\n", size::document(answer.as_ref())?),
        Some(answer) if console.is_quiet() => fathom_report::size_headline(answer) + "\n",
        Some(answer) => fathom_report::size(answer, columns, style),
        None => size::cases(columns, style)?,
    };
    terminal::print(&text)?;
    Ok(Exit::Healthy)
}
