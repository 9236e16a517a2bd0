//! Output of Apple's `networkQuality -c`.
//!
//! It lists the delays that it measured, without their times, and means of the rates.
use crate::draft::{Draft, delay, nanos, observed};
use crate::error::Problem;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Fact, Load, Metric, PhaseKind, Run, SeriesKey, Unrecorded};
use fathom_units::WallTime;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct File {
    start_date: String,
    end_date: String,
    os_version: String,
    test_endpoint: String,
    error_code: Option<i64>,
    error_domain: String,
    responsiveness: Option<f64>,
    dl_throughput: f64,
    ul_throughput: f64,
    dl_flows: u32,
    ul_flows: u32,
    il_tcp_handshake_443: Vec<f64>,
    il_h2_req_resp: Vec<f64>,
    lud_foreign_tcp_handshake_443: Vec<f64>,
    lud_foreign_h2_req_resp: Vec<f64>,
    // With `-s`, one direction after the other.
    lud_foreign_dl_tcp_handshake_443: Vec<f64>,
    lud_foreign_dl_h2_req_resp: Vec<f64>,
    lud_foreign_ul_tcp_handshake_443: Vec<f64>,
    lud_foreign_ul_h2_req_resp: Vec<f64>,
}

/// A phase with the delays measured in it, in ms.
struct Part<'f> {
    kind: PhaseKind,
    handshakes: &'f [f64],
    requests: &'f [f64],
}

impl Part<'_> {
    fn probes(&self) -> usize {
        self.handshakes.len().max(self.requests.len())
    }
}

impl File {
    /// The phases in the order in which they were measured.
    fn parts(&self) -> Vec<Part<'_>> {
        let part = |kind, handshakes, requests| Part { kind, handshakes, requests };
        let all = [
            part(PhaseKind::Idle, &self.il_tcp_handshake_443, &self.il_h2_req_resp),
            part(PhaseKind::Down, &self.lud_foreign_dl_tcp_handshake_443, &self.lud_foreign_dl_h2_req_resp),
            part(PhaseKind::Up, &self.lud_foreign_ul_tcp_handshake_443, &self.lud_foreign_ul_h2_req_resp),
            part(self.together(), &self.lud_foreign_tcp_handshake_443, &self.lud_foreign_h2_req_resp),
        ];
        all.into_iter().filter(|one| one.probes() > 0).collect()
    }
    /// The load without `-s`: both directions, unless one was turned off.
    fn together(&self) -> PhaseKind {
        match (self.dl_throughput > 0.0, self.ul_throughput > 0.0) {
            (true, false) => PhaseKind::Down,
            (false, true) => PhaseKind::Up,
            _ => PhaseKind::Both,
        }
    }
    fn load(&self, kind: PhaseKind, seconds: f64) -> Load {
        let bytes = |rate: f64| (rate * seconds / 8.0) as u64;
        let mut load = Load::default();
        if kind != PhaseKind::Up {
            (load.flows_down, load.delivered_down_bytes) = (self.dl_flows, bytes(self.dl_throughput));
        }
        if kind != PhaseKind::Down {
            (load.flows_up, load.delivered_up_bytes) = (self.ul_flows, bytes(self.ul_throughput));
        }
        load
    }
    /// Duration of the test in seconds.
    fn seconds(&self) -> Option<f64> {
        let at = |text: &str| text.parse::<WallTime>().ok();
        let (start, end) = at(&self.start_date).zip(at(&self.end_date))?;
        Some(end.0.checked_sub(start.0)? as f64 / 1e9)
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Run, Problem> {
    let file: File = serde_json::from_slice(bytes)?;
    if let Some(code) = file.error_code {
        return Err(Problem::Failed(format!("{} {code}", file.error_domain)));
    }
    let parts = file.parts();
    let all: usize = parts.iter().map(Part::probes).sum();
    if all == 0 {
        return Err(Problem::Lacks { what: "delays", command: "networkQuality -c" });
    }
    let mut draft = Draft::new("networkQuality", &file.os_version, &file.test_endpoint);
    if let Some(responsiveness) = file.responsiveness {
        draft.fact(Fact::Other("responsiveness".into()), format!("{responsiveness:.0} RPM"));
    }
    draft.lacks(Unrecorded::SendTimes);
    draft.lacks(Unrecorded::OneWayDelays);
    // The probes share the duration of the test in their order: a second each if it is unknown.
    let step_s = file.seconds().map_or(1.0, |seconds| seconds / all as f64);
    let (mut before, mut connect, mut request) = (0, Vec::new(), Vec::new());
    let mut loads = Vec::new();
    for part in &parts {
        let span = (nanos(before as f64 * step_s)?, nanos((before + part.probes()) as f64 * step_s)?);
        for (to, values) in [(&mut connect, part.handshakes), (&mut request, part.requests)] {
            for (at, value) in values.iter().enumerate() {
                let share = (span.1 - span.0) as f64 / values.len() as f64;
                to.push((span.0 + (at as f64 * share) as u64, delay(*value, 1e-3)?));
            }
        }
        if part.kind.is_loaded() {
            loads.push((part.kind, span, file.load(part.kind, (span.1 - span.0) as f64 / 1e9)));
        }
        before += part.probes();
    }
    draft.add(observed(SeriesKey::of(Metric::TcpConnect), connect));
    draft.add(observed(SeriesKey::of(Metric::HttpForeign), request));
    if loads.is_empty() {
        draft.unknown_load(&file.test_endpoint);
    } else {
        draft.phases(loads)?;
    }
    draft.finish()
}
