//! `fathom dut`: tests a switch.
use crate::args::{ChangeArgs, DutArgs};
use crate::failure::{Failure, Outcome};
use crate::terminal::Console;
use crate::{result, signal};
use fathom_app::dut::{self, Device, DutRequest, Step};
use fathom_app::output::check_names;
use fathom_app::scenario::load;
use fathom_run::PortTestKind;

/// Most interfaces on each side: three ports show everything that is tested.
const MOST_PORTS: usize = 2;

/// Tests the switch and delivers the result.
pub(crate) fn run(args: &DutArgs, console: Console) -> Outcome {
    check_names(&args.output.output)?;
    let device = device(args)?;
    if matches!(device, Device::Line { .. }) {
        fathom_os::userns::become_root().map_err(Failure::environment)?;
    }
    let request = DutRequest {
        device,
        rate: args.rate,
        load_ratio: args.load,
        spacing: args.spacing.into(),
        hold: args.duration,
    };
    console.progress("fathom dut: tests the switch for about a minute (Ctrl-C stops)");
    let cancel = signal::cancel_token()?;
    let run = dut::run(&request, &cancel, &mut |step| console.progress(&line(step)))?;
    result::warn_if_partial("dut", &run);
    result::deliver(&run, &args.output, console)
}

fn device(args: &DutArgs) -> Result<Device, Failure> {
    if let Some(name) = &args.line {
        let plan = load(name, &ChangeArgs::default().changes())?;
        return Ok(Device::Line { name: plan.name.clone(), plan: Box::new(plan.line), seed: args.seed });
    }
    for (flag, names) in [("--in", &args.ins), ("--out", &args.outs)] {
        if names.len() > MOST_PORTS {
            let given = names.len();
            return Err(Failure::input(format_args!("{given} times {flag}, at most {MOST_PORTS}")));
        }
    }
    let all: Vec<&String> = args.ins.iter().chain(&args.outs).collect();
    let is_twice = |(at, name): &(usize, &&String)| all[..*at].contains(name);
    if let Some((_, name)) = all.iter().enumerate().find(is_twice) {
        return Err(Failure::input(format_args!("interface {name} is given twice")));
    }
    Ok(Device::Switch { ins: args.ins.clone(), outs: args.outs.clone() })
}

/// A step in a line of progress.
fn line(step: Step) -> String {
    match step {
        Step::Burst(plan) => format!("burst: {:6} datagrams of {:4} bytes", plan.count, plan.payload_bytes),
        Step::Test(kind) => name(kind).to_owned(),
    }
}

const fn name(kind: PortTestKind) -> &'static str {
    match kind {
        PortTestKind::Idle => "idle: pings only",
        PortTestKind::Overload => "overload",
        PortTestKind::SmallFrames => "overload with small frames",
        PortTestKind::FullBurst => "burst that fills the buffer",
        PortTestKind::Microburst => "largest burst without loss",
        PortTestKind::Incast => "incast: bursts from two ports",
        PortTestKind::SharedBuffer => "shared buffer: bursts to two ports",
        PortTestKind::HeadOfLine => "head-of-line blocking",
    }
}
