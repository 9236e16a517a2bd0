//! `fathom doctor`: what this machine can measure.
use crate::args::DoctorArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console};
use fathom_app::doctor;

pub(crate) fn run(args: &DoctorArgs, console: Console) -> Outcome {
    let machine = doctor::examine();
    let (style, columns) = console.stdout_form();
    let text = if args.json {
        format!("{:#}\n", doctor::document(&machine))
    } else if console.is_quiet() {
        fathom_report::doctor_headline(&machine.checks) + "\n"
    } else {
        fathom_report::doctor(&machine.name, &machine.checks, columns, style)
    };
    terminal::print(&text)?;
    Ok(Exit::Healthy)
}
