//! `fathom ecn`: whether ECN survives.
use crate::failure::Outcome;
use crate::signal;
use crate::terminal::{self, Console};
use fathom_app::ecn::{self, SurveyRequest};
use fathom_terminal::EcnArgs;

pub(crate) fn run(args: &EcnArgs, console: Console) -> Outcome {
    let cancel = signal::cancel_token()?;
    let form = console.stdout_form();
    let (document, screen, class) = if let Some(host) = args.single() {
        let mut progress = |hops| console.progress(&format!("hop {hops}"));
        let result = ecn::run(host, args.port, &cancel, &mut progress)?;
        (result.document(), result.screen(form), result.exit_class())
    } else {
        let result = ecn::survey(&request(args), &cancel, &mut |p| console.progress(&p.to_string()))?;
        (result.document(), result.screen(form), result.exit_class())
    };
    terminal::print(&if args.json { format!("{document:#}\n") } else { screen })?;
    Ok(class)
}

fn request(args: &EcnArgs) -> SurveyRequest {
    let EcnArgs { hosts, port, list, opt_out, rate, out, csv, page, pathspider, .. } = args.clone();
    SurveyRequest { hosts, port, list, opt_out, rate, out, csv, page, pathspider }
}
