//! The lab's public interface.
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
    /// The user's side.
    Client,
    /// The server side.
    Server,
}

/// Settings of a lab other than the line.
#[derive(Clone, Debug)]
pub struct LabOptions {
    /// The run's clock; times in the report refer to it.
    pub clock: Clock,
    /// Seed of all random decisions on the line.
    pub seed: u64,
    /// Congestion control of TCP senders on both sides, by its kernel name.
    pub congestion_control: String,
    /// Whether both sides get an IPv6 address if the kernel supports IPv6.
    pub ipv6: bool,
    /// Interval between samples of the queues.
    pub sample_interval: Duration,
    /// Captures, if any.
    pub capture: Option<CaptureOptions>,
}

impl LabOptions {
    /// Defaults: CUBIC, IPv6, a sample every 10 ms.
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
    /// From a unique local prefix (RFC 4193); `None` if disabled or not supported by this kernel.
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
    /// Creates both namespaces and starts the line between them.
    ///
    /// # Errors
    /// If the system refuses namespaces or TUN. The message names the setting and what to do.
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
        // Both sides are set up alike, so their notes are the same.
        let notes = client.notes;
        let client = LabSide { namespace: client.namespace, addresses: client.addresses };
        let server = LabSide { namespace: server.namespace, addresses: server.addresses };
        Ok(Lab { client, server, control, engine, notes })
    }
    /// Runs `work` in a new thread on `side` and waits for it. Sockets and threads that it creates
    /// stay on that side.
    ///
    /// # Errors
    /// If the thread cannot be started or moved.
    ///
    /// # Panics
    /// If `work` panics.
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
        .map_err(system("run inside the lab"))
    }
    /// Runs `work` on the client side, see [`Lab::within`].
    ///
    /// # Errors
    /// As [`Lab::within`].
    pub fn in_client<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        self.within(Side::Client, work)
    }
    /// Runs `work` on the server side, see [`Lab::within`].
    ///
    /// # Errors
    /// As [`Lab::within`].
    pub fn in_server<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
        self.within(Side::Server, work)
    }
    /// Addresses of the client side.
    #[must_use]
    pub fn client_address(&self) -> Addresses {
        self.client.addresses
    }
    /// Addresses of the server side.
    #[must_use]
    pub fn server_address(&self) -> Addresses {
        self.server.addresses
    }
    /// Takes the line down or up. While it is down, packets that arrive at either end are lost.
    pub fn set_link(&self, up: bool) {
        self.control.down.store(!up, Ordering::Relaxed);
    }
    /// Starts `command` on `side`, in its own PID namespace. Its standard streams are those set in
    /// `command`.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn spawn_command(&self, side: Side, command: Command) -> Result<Child, LabError> {
        Child::spawn(command, self.namespace(side)).map_err(system("start the command"))
    }
    /// Stops the line and returns its report.
    ///
    /// # Errors
    /// If the line failed while running.
    ///
    /// # Panics
    /// If the line's thread panicked.
    pub fn finish(mut self) -> Result<LabReport, LabError> {
        self.note_drops_before_line()?;
        self.control.stop.store(true, Ordering::Relaxed);
        let ended = self.engine.take().ok_or(io::ErrorKind::NotFound.into());
        let outcome = ended.map_err(system("stop the line"))?.join();
        let mut report = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        report.notes.append(&mut self.notes);
        Ok(report)
    }

    /// Notes drops before the line: they occurred in none of its queues, so its report would not
    /// contain them.
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
            // For the result, callers use `finish`.
            let _ = engine.join();
        }
    }
}
