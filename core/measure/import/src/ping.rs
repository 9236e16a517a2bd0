//! Output of `ping`: iputils (Linux), BusyBox, macOS and the BSDs.
use crate::draft::{Draft, delay};
use crate::echoes::Echoes;
use crate::error::Problem;
use crate::lines::{after, before, timestamp};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{Metric, Run, SeriesKey};

/// Names of the sequence number: of BusyBox, and of an old iputils.
const SEQUENCES: [&str; 3] = ["icmp_seq=", "icmp_req=", " seq="];
/// What precedes the sequence number of an unanswered probe: of iputils with `-O`, and of macOS.
const UNANSWERED: [&str; 2] = ["no answer yet for icmp_seq=", "Request timeout for icmp_seq "];

/// Whether this line is one of `ping`.
pub(crate) fn is_line(line: &str) -> bool {
    let (_, line) = timestamp(line);
    is_header(line) || reply(line).is_some() || unanswered(line).is_some()
}

/// `PING example.org (192.0.2.1) 56(84) bytes of data.`
fn is_header(line: &str) -> bool {
    line.starts_with("PING ") && (line.contains("data bytes") || line.contains("bytes of data"))
}

/// Sequence number and round trip in ms of
/// `64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.045 ms`.
fn reply(line: &str) -> Option<(u64, f64)> {
    let (_, line) = line.split_once("bytes from ")?;
    Some((SEQUENCES.iter().find_map(|key| after(line, key))?, after(line, "time=")?))
}

/// Sequence number of a probe that was not answered in time, or was answered with an error.
fn unanswered(line: &str) -> Option<u64> {
    let error = || line.starts_with("From ").then(|| after(line, " icmp_seq=")).flatten();
    UNANSWERED.iter().find_map(|key| after(line, key)).or_else(error)
}

#[derive(Default)]
struct Log {
    echoes: Echoes,
    target: String,
    interval_s: Option<f64>,
}

impl Log {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Problem> {
        let (received_s, line) = timestamp(line.trim());
        if is_header(line) {
            if !self.echoes.is_empty() {
                return Err(Problem::Damaged(format!("line {number} starts another ping")));
            }
            let target = line.split_whitespace().nth(1).unwrap_or_default();
            self.target = target.trim_end_matches(':').to_string();
            // Linux counts from 1, others from 0.
            self.echoes.lost(u64::from(line.contains("bytes of data")));
        } else if let Some((sequence, rtt_ms)) = reply(line) {
            if self.target.is_empty() {
                let from = line.split_once("bytes from ").map_or("", |(_, from)| from);
                let host = from.split([' ', ',']).next().unwrap_or_default();
                self.target = host.trim_end_matches(':').to_string();
            }
            self.echoes.answer(sequence, delay(rtt_ms, 1e-3)?, received_s);
        } else if let Some(sequence) = unanswered(line) {
            self.echoes.lost(sequence);
        } else if let Some(count) = before::<u64>(line, " packets transmitted") {
            self.echoes.total(count);
            let lasted_ms = line.rsplit_once(", time ").and_then(|(_, time)| before::<f64>(time, "ms"));
            let gaps = count.saturating_sub(1);
            self.interval_s = lasted_ms.filter(|_| gaps > 0).map(|ms| ms / 1e3 / gaps as f64);
        }
        Ok(())
    }
}

pub(crate) fn read(text: &str) -> Result<Run, Problem> {
    let mut log = Log::default();
    for (number, line) in (1..).zip(text.lines()) {
        log.line(number, line)?;
    }
    if log.echoes.is_empty() {
        return Err(Problem::Truncated);
    }
    let mut draft = Draft::new("ping", "", &log.target);
    draft.echoes(&log.echoes, SeriesKey::of(Metric::IcmpRtt), log.interval_s)?;
    draft.unknown_load(&log.target);
    draft.finish()
}
