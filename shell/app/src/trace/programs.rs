//! Names the processes of this host whose sockets a capture of an interface shows.
use super::CaptureInput;
use fathom_audit_facts::{ProgramObserver, Transport};
use fathom_run::{Process, Run};
use std::net::SocketAddr;

/// Starts to observe the sockets of this host, if an interface is captured.
pub(super) fn observe(input: &CaptureInput) -> Option<ProgramObserver> {
    matches!(input, CaptureInput::Interface { .. }).then(ProgramObserver::start)
}

/// Adds what was observed to the flows of `run`.
pub(super) fn name(run: &mut Run, observer: ProgramObserver) {
    let programs = observer.finish();
    let of = |transport, ends: &[&String]| -> Option<Process> {
        let mut ends = ends.iter().filter_map(|end| end.parse::<SocketAddr>().ok());
        ends.find_map(|end| {
            programs.of(transport, SocketAddr::new(end.ip().to_canonical(), end.port())).cloned()
        })
    };
    let Some(capture) = &mut run.capture else { return };
    for flow in &mut capture.flows {
        flow.program = of(Transport::Tcp, &flow.ends.each_ref());
    }
    for flow in &mut capture.datagrams {
        flow.program = of(Transport::Udp, &[&flow.from, &flow.to]);
    }
    let probed = capture.queues.iter_mut().filter_map(|queue| queue.probed.as_mut());
    for load in probed.flat_map(|probed| &mut probed.loads) {
        load.program = of(Transport::Udp, &[&load.from, &load.to]);
    }
}
