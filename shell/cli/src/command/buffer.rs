//! `fathom buffer`: measures the buffers of a line.
use crate::args::BufferArgs;
use crate::failure::{Failure, Outcome};
use crate::terminal::Console;
use crate::{result, signal};
use fathom_app::output::check_names;
use fathom_app::{AppError, buffer};
use fathom_client::{TestConfig, TestError};
use fathom_run::Burst;
use fathom_units::{Direction, Duration};
use std::net::IpAddr;

/// Interval of the probes that show whether others wait behind the bursts: ten during the last
/// burst of each direction, and few next to the datagrams in a buffer that counts packets.
const PROBE_EVERY: Duration = Duration::from_millis(50);

/// Measures the buffers and delivers the result.
pub(crate) fn run(args: &BufferArgs, console: Console) -> Outcome {
    check_names(&args.output.output)?;
    let config = TestConfig {
        family: args.connection.family(),
        token: args.connection.token.read()?,
        flows: 0,
        congestion_control: "-".to_owned(),
        sample_every: PROBE_EVERY,
        max_bytes: Some(args.max_bytes),
        ..TestConfig::new(&args.server)
    };
    console.progress(&format!(
        "fathom buffer: sends at most {} in each direction (Ctrl-C stops)",
        fathom_text::bytes(args.max_bytes.get() as f64)
    ));
    let cancel = signal::cancel_token()?;
    let directions = args.only.map_or_else(|| Direction::BOTH.to_vec(), |one| vec![one]);
    let run = buffer::run(&config, &directions, &cancel, &mut |burst| console.progress(&line(burst)))
        .map_err(advised)?;
    result::warn_if_partial("buffer", &run);
    result::deliver(&run, &args.output, console)
}

/// An error, with what measures a host that does not run `fathom serve`.
fn advised(error: AppError) -> Failure {
    let address = match &error {
        AppError::Test(
            TestError::Refused(address)
            | TestError::NotFathom(address, _)
            | TestError::Timeout { address, .. },
        ) => Some(*address),
        _ => None,
    };
    let mut failure = Failure::from(error);
    if let Some(address) = address {
        let host = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        failure.message += &format!("\n  try: fathom buffer icmp://{host}");
    }
    failure
}

/// A burst in a line of progress.
fn line(burst: &Burst) -> String {
    let Burst { direction, count, payload_bytes, .. } = burst;
    let (expected, arrived) = (burst.expected(), burst.expected() - burst.lost());
    let of = if expected == *count { String::new() } else { format!(" of {expected} to be echoed") };
    format!("{direction:<5}{count:6} datagrams of {payload_bytes:4} bytes, {arrived}{of} arrived")
}
