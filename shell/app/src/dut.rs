//! Tests a switch, the device under test of RFC 2544, between interfaces of this host, or an
//! emulated line.
use crate::scenario::rates;
use crate::{AppError, CancelToken};
pub use fathom_dut_ports::Step;
use fathom_dut_ports::{InPort, Port, Setup, measure, open};
use fathom_lab::{Lab, LabError, LabOptions};
use fathom_os::clock::Clock;
use fathom_os::netns::NetNs;
use fathom_run::{Fact, Run, Spacing};
use fathom_scenario::LinePlan;
use fathom_units::{Duration, Rate};

/// A request to test a switch.
#[derive(Clone, Debug)]
pub struct DutRequest {
    /// What connects the ports.
    pub device: Device,
    /// Rate of the first port that receives; `None`: as measured.
    pub rate: Option<Rate>,
    /// Load, relative to that rate.
    pub load_ratio: f64,
    /// How frames of an overload follow each other.
    pub spacing: Spacing,
    /// How long an overload holds the full buffer.
    pub hold: Duration,
}

/// The device under test.
#[derive(Clone, Debug)]
pub enum Device {
    /// A switch between interfaces of this host.
    Switch {
        /// Interfaces that send to it.
        ins: Vec<String>,
        /// Interfaces that receive from it.
        outs: Vec<String>,
    },
    /// An emulated line, from its client to its server.
    Line {
        /// Its name.
        name: String,
        /// The line.
        plan: Box<LinePlan>,
        /// Seed of its random numbers.
        seed: u64,
    },
}

/// Tests the device. `progress` gets each step.
///
/// # Errors
/// If nothing could be measured. After a later failure, the run is partial.
pub fn run(
    request: &DutRequest,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Step),
) -> Result<Run, AppError> {
    let clock = Clock::start();
    // The line ends after the test.
    let (ports, ins, line) = match &request.device {
        Device::Switch { ins, outs } => (open(&[ins.as_slice(), outs].concat())?, ins.len(), None),
        Device::Line { plan, seed, .. } => {
            let lab = Lab::start(plan, &LabOptions { ipv6: false, ..LabOptions::new(clock, *seed) })?;
            (Vec::from(ends(&lab)?), 1, Some(lab))
        }
    };
    let setup = Setup {
        ins: ports.iter().take(ins).map(|port| InPort { rate: port.rate }).collect(),
        outs: ports.len() - ins,
        rate: request.rate,
        load_ratio: request.load_ratio,
        spacing: request.spacing,
        hold: request.hold,
    };
    let mut run = measure(&ports, &setup, clock, cancel.flag(), progress)?;
    run.host = fathom_client::host();
    run.title = title(&request.device);
    if let Device::Line { name, plan, seed } = &request.device {
        run.facts.insert(Fact::Line, format!("{name} ({})", rates(plan)));
        run.facts.insert(Fact::Seed, seed.to_string());
    }
    if let Some(lab) = line {
        run.notes.extend(lab.finish()?.notes);
    }
    Ok(run)
}

/// The ends of an emulated line.
fn ends(lab: &Lab) -> Result<[Port; 2], AppError> {
    let system = |source| LabError::System { doing: "open a network namespace".to_owned(), source };
    let [client, server] = [lab.in_client(NetNs::current)?, lab.in_server(NetNs::current)?];
    let port = |name: &str, namespace, address| Port::emulated(name.to_owned(), namespace, address);
    Ok([
        port("client", client.map_err(system)?, lab.client_address().v4),
        port("server", server.map_err(system)?, lab.server_address().v4),
    ])
}

fn title(device: &Device) -> String {
    match device {
        Device::Switch { ins, outs } => format!("{} to {}", ins.join(", "), outs.join(", ")),
        Device::Line { name, .. } => name.clone(),
    }
}
