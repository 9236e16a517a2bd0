//! Structure of scenario files, field by field, and the conversion to a [`Plan`].
use crate::claim::{Claim, ClaimFile};
use crate::error::ScenarioError;
use crate::field::{Quantity, check_word};
use crate::plan::{Expect, HopPlan, LatencyRange, LinePlan, MAX_HOPS, Plan};
use crate::run::RunFile;
use crate::side_file::{Side, side};
use crate::trace_file::{Files, Refusal, no_files};
use crate::workload::{LoadPlan, WorkloadPlan};
use crate::workload_file::WorkloadFile;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use fathom_link::{TransmitterParams, WifiParams};
use fathom_units::Duration;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// Scenarios are written by hand; a larger file is something else.
const MAX_FILE_BYTES: usize = 1 << 20;
/// Longest name of a plan or hop.
const MAX_NAME: usize = 64;
/// `TCP_CA_NAME_MAX` of Linux, without the terminating zero.
const MAX_CONGESTION_CONTROL: usize = 15;
/// Maximum number of flows in each direction.
const MAX_FLOWS: u32 = 1024;
const DEFAULT_LOAD_DURATION: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Spanned<String>,
    about: String,
    source: String,
    hop: Option<Spanned<Vec<Hop>>>,
    load: Option<Spanned<Load>>,
    /// Older files call this `work`.
    #[serde(default, alias = "work")]
    workload: Vec<WorkloadFile>,
    #[serde(default)]
    run: RunFile,
    #[serde(default)]
    expect: Expected,
    #[serde(default)]
    claim: Vec<ClaimFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workloads {
    workload: Vec<WorkloadFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hop {
    name: Spanned<String>,
    up: Spanned<Side>,
    down: Spanned<Side>,
    half_duplex: Option<Spanned<bool>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Load {
    #[serde(default)]
    up_flows: u32,
    #[serde(default)]
    down_flows: u32,
    congestion_control: Option<Spanned<String>>,
    duration: Option<Quantity<Duration>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Expected {
    idle_latency: Option<Spanned<[Quantity<Duration>; 2]>>,
    max_working_latency: Option<Spanned<[Quantity<Duration>; 2]>>,
}

struct Fault(Range<usize>, String);

impl From<Fault> for Refusal {
    fn from(Fault(span, what): Fault) -> Self {
        Refusal::Here(span, what)
    }
}

/// Parses a scenario that refers to no other files. `file` is the name used in errors.
///
/// # Errors
/// The first problem, with its line.
pub fn parse(text: &str, file: &str) -> Result<Plan, ScenarioError> {
    parse_with_files(text, file, &no_files)
}

/// Parses a scenario. `file` is the name used in errors; `files` reads files relative to it.
///
/// # Errors
/// The first problem, with its line. Problems in a trace have the trace's name and line.
pub fn parse_with_files(text: &str, file: &str, files: Files<'_>) -> Result<Plan, ScenarioError> {
    plan(read(text, file)?, files).map_err(|refusal| match refusal {
        Refusal::Here(span, what) => ScenarioError::at(file, text, span.start, what),
        Refusal::InTrace(error) => error,
    })
}

/// The workloads of a file that has nothing else.
pub(crate) fn parse_workloads(text: &str, file: &str) -> Result<Vec<WorkloadPlan>, ScenarioError> {
    let Workloads { workload } = read(text, file)?;
    workloads(workload, &[]).map_err(|Fault(span, what)| ScenarioError::at(file, text, span.start, what))
}

fn read<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, ScenarioError> {
    if text.len() > MAX_FILE_BYTES {
        let what = format!("the scenario has {} bytes, more than the limit of {MAX_FILE_BYTES}", text.len());
        return Err(ScenarioError::at(file, text, 0, what));
    }
    toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        ScenarioError::at(file, text, span.start, describe(text, span.start, error.message()))
    })
}

/// Prefixes `message` with the field, and suggests a known field for a misspelled one.
fn describe(text: &str, offset: usize, message: &str) -> String {
    let line = message.lines().collect::<Vec<_>>().join(" ");
    if line.starts_with("unknown field") {
        let guess = guess(&line).map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"));
        return line + &guess;
    }
    field_before(text, offset).map_or(line.clone(), |field| format!("{field}: {line}"))
}

/// Key of the value at `offset`: the word before the preceding `=`.
fn field_before(text: &str, offset: usize) -> Option<&str> {
    let key = text.get(..offset)?.trim_end().strip_suffix('=')?.trim_end();
    let start = key.rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).map_or(0, |at| at + 1);
    key.get(start..).filter(|word| !word.is_empty())
}

/// Serde names the unknown field first and then the known fields, all in backticks. This finds the
/// known field nearest to the unknown one.
fn guess(message: &str) -> Option<&str> {
    let mut words = message.split('`').skip(1).step_by(2);
    let wrong = words.next()?;
    fathom_text::nearest(wrong, &words.collect::<Vec<_>>())
}

fn plan(file: File, files: Files<'_>) -> Result<Plan, Refusal> {
    check_word("name", file.name.get_ref(), MAX_NAME).map_err(|what| Fault(file.name.span(), what))?;
    let needs_no_line = file.load.is_none() && file.workload.is_empty() && !file.claim.is_empty();
    let (span, hops) = file.hop.map_or((0..0, Vec::new()), |hops| (hops.span(), hops.into_inner()));
    if (hops.is_empty() && !needs_no_line) || hops.len() > MAX_HOPS {
        return Err(
            Fault(span, format!("the line has {} hops (expected 1 to {MAX_HOPS})", hops.len())).into()
        );
    }
    let load = file.load.map(load).transpose()?;
    let run = file.run.check(load.as_ref().map(|load| load.duration)).map_err(fault)?;
    let hops: Vec<HopPlan> = hops.into_iter().map(|given| hop(given, files)).collect::<Result<_, _>>()?;
    Ok(Plan {
        name: file.name.into_inner(),
        about: file.about,
        source: file.source,
        workloads: workloads(file.workload, &hops)?,
        line: LinePlan { hops },
        load,
        controls: Vec::new(),
        run,
        expect: Expect {
            idle_latency: file.expect.idle_latency.map(range).transpose()?,
            max_working_latency: file.expect.max_working_latency.map(range).transpose()?,
        },
        claims: file.claim.into_iter().map(claim).collect::<Result<_, _>>()?,
    })
}

fn fault((span, what): (Range<usize>, String)) -> Fault {
    Fault(span, what)
}

fn workloads(files: Vec<WorkloadFile>, hops: &[HopPlan]) -> Result<Vec<WorkloadPlan>, Fault> {
    let mut workloads: Vec<WorkloadPlan> = Vec::new();
    for file in files {
        let span = file.span();
        let workload = file.check(hops).map_err(fault)?;
        if workloads.iter().any(|other| other.name == workload.name) {
            return Err(Fault(span, format!("name: there is already a workload \"{}\"", workload.name)));
        }
        workloads.push(workload);
    }
    Ok(workloads)
}

fn claim(claim: ClaimFile) -> Result<Claim, Fault> {
    claim.check().map_err(fault)
}

fn hop(hop: Hop, files: Files<'_>) -> Result<HopPlan, Refusal> {
    check_word("name", hop.name.get_ref(), MAX_NAME).map_err(|what| Fault(hop.name.span(), what))?;
    let (span, half_duplex) = (hop.name.span(), hop.half_duplex);
    let (up, down) = (side(hop.up, files)?, side(hop.down, files)?);
    let half_duplex = match (&up.transmitter, &down.transmitter, &half_duplex) {
        (TransmitterParams::Wifi(up), TransmitterParams::Wifi(down), given) => {
            let given = given.as_ref();
            let span = given.map_or(span, Spanned::span);
            check_wifi(up, down, given.map(Spanned::get_ref)).map_err(|what| Fault(span, what))?;
            true
        }
        (TransmitterParams::Wifi(_), ..) | (_, TransmitterParams::Wifi(_), _) => {
            let what = "wifi: both directions share the medium (specify wifi for up and down)";
            return Err(Fault(span, what.to_string()).into());
        }
        (_, _, given) => given.as_ref().is_some_and(|given| *given.get_ref()),
    };
    Ok(HopPlan { name: hop.name.into_inner(), up, down, half_duplex })
}

/// Checks that both directions of a shared medium have the same parameters.
fn check_wifi(up: &WifiParams, down: &WifiParams, half_duplex: Option<&bool>) -> Result<(), String> {
    if half_duplex == Some(&false) {
        return Err("half_duplex: wifi is always half-duplex (leave it out)".to_string());
    }
    if (up.stations, up.station_phy) == (down.stations, down.station_phy) {
        return Ok(());
    }
    let (up, down) = ((up.stations, up.station_phy), (down.stations, down.station_phy));
    Err(format!("wifi: up has stations = {} at {}, down {} at {} (use the same)", up.0, up.1, down.0, down.1))
}

fn load(load: Spanned<Load>) -> Result<LoadPlan, Fault> {
    let (span, load) = (load.span(), load.into_inner());
    let (up_flows, down_flows) = (load.up_flows, load.down_flows);
    if up_flows.max(down_flows) > MAX_FLOWS || up_flows.max(down_flows) == 0 {
        let seen = format!("up_flows = {up_flows}, down_flows = {down_flows}");
        return Err(Fault(
            span,
            format!("{seen}: out of range (expected 1 to {MAX_FLOWS} in at least one of them)"),
        ));
    }
    let duration = load.duration.map_or(DEFAULT_LOAD_DURATION, |given| given.0);
    if duration == Duration::ZERO {
        return Err(Fault(span, "duration: the load lasts 0 (leave out [load])".to_string()));
    }
    let congestion_control = match load.congestion_control {
        None => "cubic".to_string(),
        Some(name) => {
            let check = check_word("congestion_control", name.get_ref(), MAX_CONGESTION_CONTROL);
            check.map_err(|what| Fault(name.span(), what))?;
            name.into_inner()
        }
    };
    Ok(LoadPlan { up_flows, down_flows, congestion_control, duration })
}

fn range(range: Spanned<[Quantity<Duration>; 2]>) -> Result<LatencyRange, Fault> {
    let (span, [Quantity(at_least), Quantity(at_most)]) = (range.span(), range.into_inner());
    if at_least > at_most {
        return Err(Fault(span, format!("{at_least} exceeds {at_most} (expected [minimum, maximum])")));
    }
    Ok(LatencyRange { at_least, at_most })
}
