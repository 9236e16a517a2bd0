//! Runs a command on the client side of a line and reports how exact the timing of the line was.
//! For benchmarks, as root:
//! ```sh
//! cargo run --release -p fathom-lab --example through -- \
//!     10gbit 0 'fifo limit 10000p' cubic iperf3 -c 198.19.0.2
//! ```
//! An iperf3 server runs on the server side.
#![expect(clippy::print_stdout, reason = "an example is a program")]
use fathom_lab::{Lab, LabOptions, Side};
use fathom_os::clock::Clock;
use std::error::Error;
use std::process::{Command, Stdio};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rate, delay, queue, congestion_control, program, rest @ ..] = &arguments[..] else {
        return Err("usage: through RATE DELAY QUEUE CONGESTION-CONTROL PROGRAM [ARGUMENT]...".into());
    };
    let link =
        format!("{{ rate = \"{rate}\", delay = \"{delay}\", queue = \"{queue}\", overhead = \"0b\" }}");
    let scenario = format!(
        "name = \"through\"\nabout = \"arguments\"\nsource = \"arguments\"\n[[hop]]\nname = \"link\"\nup = {link}\ndown = {link}\n"
    );
    let plan = fathom_scenario::parse(&scenario, "arguments")?;
    fathom_os::userns::become_root()?;
    let mut options = LabOptions::new(Clock::start(), 1);
    options.congestion_control.clone_from(congestion_control);
    let lab = Lab::start(&plan.line, &options)?;
    let mut server = Command::new("iperf3");
    server.arg("-s").stdin(Stdio::null()).stdout(Stdio::null());
    let server = lab.spawn_command(Side::Server, server)?;
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut command = Command::new(program);
    command.args(rest);
    let status = lab.spawn_command(Side::Client, command)?.wait()?;
    drop(server);
    let report = lab.finish()?;
    println!("{status}");
    for totals in report.queues {
        println!("{totals:?}");
    }
    let late = &report.line_lateness;
    for share in [0.5, 0.9, 0.99, 0.999] {
        println!("lateness p{}: {}", share * 100.0, late.percentile(share).unwrap_or_default());
    }
    println!("lateness max {}, {} packets; {:?}", late.max(), late.count(), report.notes);
    Ok(())
}
