//! The lab as its users see it.
use crate::capture::Recorder;
use crate::engine::{self, Control, LineEnd, Setup};
use crate::network::{self, system};
use crate::{CaptureOptions, Child, LabError, LabReport, address};
use fathom_os::clock::Clock;
use fathom_os::netns::NetNs;
use fathom_run::Note;
use fathom_scenario::LinePlan;
use fathom_units::{Duration, PerDirection};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{io, thread};

/// An end of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The user's.
    Client,
    /// The far one.
    Server,
}

/// What a lab needs to know beside the line.
#[derive(Clone, Debug)]
pub struct LabOptions {
    /// The run's clock: times of the report are on it.
    pub clock: Clock,
    /// Seed of everything random on the line.
    pub seed: u64,
    /// Congestion control of TCP senders on both sides, as the kernel spells it.
    pub congestion_control: String,
    /// Whether to give both sides an IPv6 address, if this kernel has IPv6.
    pub ipv6: bool,
    /// Time between two samples of the queues.
    pub sample_interval: Duration,
    /// Whether to capture what passes.
    pub capture: Option<CaptureOptions>,
}

impl LabOptions {
    /// CUBIC, IPv6, a sample every 10 ms.
    #[must_use]
    pub fn new(clock: Clock, seed: u64) -> Self {
        LabOptions {
            clock,
            seed,
            congestion_control: "cubic".to_owned(),
            ipv6: true,
            sample_interval: Duration::from_millis(10),
            capture: None,
        }
    }
}

/// Addresses of one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// From 198.18.0.0/15, the range for benchmarks (RFC 2544).
    pub v4: Ipv4Addr,
    /// From a unique local prefix (RFC 4193); `None` if switched off or unknown to this kernel.
    pub v6: Option<Ipv6Addr>,
}

/// One side of a line.
#[derive(Debug)]
struct LabSide {
    namespace: NetNs,
    addresses: Addresses,
}

/// A running line between two network namespaces. Dropping it ends the line.
#[derive(Debug)]
pub struct Lab {
    client: LabSide,
    server: LabSide,
    control: Arc<Control>,
    engine: Option<thread::JoinHandle<Result<LabReport, LabError>>>,
    notes: Vec<Note>,
}

impl Lab {
    /// Makes both namespaces and starts the line between them.
    ///
    /// # Errors
    /// If the system refuses namespaces or TUN: the message says which setting and what to do.
    pub fn start(plan: &LinePlan, options: &LabOptions) -> Result<Lab, LabError> {
        let client = network::make(address::CLIENT, options)?;
        let server = network::make(address::SERVER, options)?;
        let hops = plan.hops.len();
        let recorder = options
            .capture
            .as_ref()
            .map(|capture| Recorder::start(capture, hops, options.clock))
            .transpose()?;
        let control = Arc::new(Control::default());
        let setup = Setup {
            plan: plan.clone(),
            seed: options.seed,
            clock: options.clock,
            sample_interval: options.sample_interval,
            ends: PerDirection {
                up: LineEnd { tun: client.tun, addresses: client.addresses },
                down: LineEnd { tun: server.tun, addresses: server.addresses },
            },
            control: Arc::clone(&control),
            recorder,
        };
        let engine = thread::Builder::new().name("lab-line".into()).spawn(move || engine::run(setup));
        let engine = Some(engine.map_err(system("start the line's thread"))?);
        // Both sides are made alike, so that they say the same.
        let notes = client.notes;
        let client = LabSide { namespace: client.namespace, addresses: client.addresses };
        let server = LabSide { namespace: server.namespace, addresses: server.addresses };
        Ok(Lab { client, server, control, engine, notes })
    }
    /// Runs `work` on a fresh thread on `side`, and waits for it. Sockets that it makes stay there, as do threads it starts.
    ///
    /// # Errors
    /// If the thread cannot be started or moved.
    ///
    /// # Panics
    /// If `work` does.
    pub fn within<R: Send>(&self, side: Side, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        let entered = |namespace: &NetNs| -> io::Result<R> {
            namespace.enter()?;
            Ok(work())
        };
        thread::scope(|scope| {
            let named = thread::Builder::new().name("lab-side".into());
            let worker = named.spawn_scoped(scope, || entered(self.namespace(side)))?;
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
        .map_err(system("run inside of the lab"))
    }
    /// [`Lab::within`] the user's side.
    ///
    /// # Errors
    /// As [`Lab::within`].
    pub fn in_client<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        self.within(Side::Client, work)
    }
    /// [`Lab::within`] the far side.
    ///
    /// # Errors
    /// As [`Lab::within`].
    pub fn in_server<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        self.within(Side::Server, work)
    }
    /// Addresses of the user's side.
    #[must_use]
    pub fn client_address(&self) -> Addresses {
        self.client.addresses
    }
    /// Addresses of the far side.
    #[must_use]
    pub fn server_address(&self) -> Addresses {
        self.server.addresses
    }
    /// Takes the line down or up. While it is down, packets that arrive at either of its ends are lost.
    pub fn set_link(&self, up: bool) {
        self.control.down.store(!up, Ordering::Relaxed);
    }
    /// Starts `command` on `side`, in a PID namespace of its own. Its standard streams are as `command` says.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn spawn_command(&self, side: Side, command: Command) -> Result<Child, LabError> {
        Child::spawn(command, self.namespace(side)).map_err(system("start the command"))
    }
    /// Ends the line and tells what it saw.
    ///
    /// # Errors
    /// If the line failed while it ran.
    ///
    /// # Panics
    /// If the line's thread did.
    pub fn finish(mut self) -> Result<LabReport, LabError> {
        self.note_drops_before_line()?;
        self.control.stop.store(true, Ordering::Relaxed);
        let ended = self.engine.take().ok_or(io::ErrorKind::NotFound.into());
        let outcome = ended.map_err(system("end the line"))?.join();
        let mut report = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        report.notes.append(&mut self.notes);
        Ok(report)
    }

    /// Such drops are in no queue of the line, so that its report would not know of them.
    fn note_drops_before_line(&mut self) -> Result<(), LabError> {
        let drops =
            self.in_client(network::dropped_before_line)? + self.in_server(network::dropped_before_line)?;
        if drops > 0 {
            self.notes.push(Note::DroppedBeforeLine { packets: drops });
        }
        Ok(())
    }
    fn namespace(&self, side: Side) -> &NetNs {
        match side {
            Side::Client => &self.client.namespace,
            Side::Server => &self.server.namespace,
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.control.stop.store(true, Ordering::Relaxed);
        if let Some(engine) = self.engine.take() {
            // Who wants to know how it went calls `finish`.
            let _ = engine.join();
        }
    }
}
