//! The pairs of columns, by their names in tcptrace.
use crate::number::{self, MS};
use core::fmt::{self, Write};
use fathom_flow::{End, FlowSummary, Moments, Totals};

/// One direction of a flow.
pub(super) struct Side<'a> {
    pub(super) flow: &'a FlowSummary,
    pub(super) sent: &'a Totals,
    pub(super) end: End,
}

/// A pair of columns.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) cell: fn(&Side<'_>) -> Cell,
}

/// The content of a cell.
#[derive(Clone, Copy)]
pub(super) enum Cell {
    Count(u64),
    /// With so many decimals.
    Decimal(f64, usize),
    Flag(bool),
    Flags(bool, bool),
    Counts(u64, u64),
    None,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Short::default();
        let letter = |is: bool| if is { 'Y' } else { 'N' };
        match *self {
            Cell::Count(count) => write!(text, "{count}")?,
            Cell::Decimal(value, decimals) => write!(text, "{value:.decimals$}")?,
            Cell::Flag(is) => text.write_char(letter(is))?,
            Cell::Flags(a, b) => write!(text, "{}/{}", letter(a), letter(b))?,
            Cell::Counts(a, b) => write!(text, "{a}/{b}")?,
            Cell::None => text.write_str("NA")?,
        }
        f.pad(text.as_str())
    }
}

/// A cell's text, to be padded: numbers of 64 bits and their like.
struct Short {
    bytes: [u8; 48],
    length: usize,
}

impl Default for Short {
    fn default() -> Self {
        Short { bytes: [0; 48], length: 0 }
    }
}

impl Short {
    fn as_str(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let until = self.length + text.len();
        self.bytes.get_mut(self.length..until).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = until;
        Ok(())
    }
}

impl Side<'_> {
    /// What the other end sent.
    fn other(&self) -> &Totals {
        self.flow.sent_by(self.end.other())
    }
    fn elapsed_ns(&self) -> i64 {
        self.flow.last.at.saturating_sub(self.flow.first.at)
    }
    fn shift(&self) -> u64 {
        let of = |sent: &Totals| sent.offer.and_then(|offer| offer.window_shift);
        // A scale counts only if both offered one (RFC 7323 section 2.2).
        of(self.other()).and(of(self.sent)).map_or(0, u64::from)
    }
}

fn mean(sum: u64, count: u64) -> Cell {
    Cell::Count(sum.checked_div(count).unwrap_or(0))
}

fn milliseconds(nanos: f64) -> Cell {
    Cell::Decimal(nanos / MS, 1)
}

fn average(of: &Moments) -> Cell {
    milliseconds(of.mean().unwrap_or(0.0))
}

fn deviation(of: &Moments) -> Cell {
    milliseconds(number::deviation(of))
}

fn initial_time(side: &Side<'_>) -> Cell {
    let time = side.sent.first_data_at.zip(side.sent.last_data_at);
    Cell::Decimal(time.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e9), 3)
}

fn throughput(side: &Side<'_>) -> Cell {
    match side.elapsed_ns() {
        1.. => Cell::Decimal(side.sent.unique_bytes as f64 * 1e9 / side.elapsed_ns() as f64, 0),
        _ => Cell::None,
    }
}

fn weighted_outstanding(side: &Side<'_>) -> Cell {
    match side.elapsed_ns() {
        1.. => Cell::Count(side.sent.outstanding_time_mean.unwrap_or(0.0) as u64),
        _ => Cell::None,
    }
}

fn missed(side: &Side<'_>) -> Cell {
    side.sent
        .stream_bytes
        .map_or(Cell::None, |bytes| Cell::Count(bytes.saturating_sub(side.sent.unique_bytes)))
}

macro_rules! columns {
    ($($name:literal: |$side:ident| $cell:expr;)*) => {
        &[$(Column { name: $name, cell: |$side| $cell },)*]
    };
}

/// All pairs, in tcptrace's order and spelling.
pub(super) const COLUMNS: &[Column] = columns! {
    "total_packets": |s| Cell::Count(s.sent.packets);
    "resets_sent": |s| Cell::Count(s.sent.resets);
    "ack_pkts_sent": |s| Cell::Count(s.sent.ack_packets);
    "pure_acks_sent": |s| Cell::Count(s.sent.pure_acks);
    "sack_pkts_sent": |s| Cell::Count(s.sent.selective_packets);
    "dsack_pkts_sent": |s| Cell::Count(s.sent.duplicate_selective_packets);
    "max_sack_blks/ack": |s| Cell::Count(s.sent.max_blocks);
    "unique_bytes_sent": |s| Cell::Count(s.sent.unique_bytes);
    "actual_data_pkts": |s| Cell::Count(s.sent.data_packets);
    "actual_data_bytes": |s| Cell::Count(s.sent.segment_bytes.sum);
    "rexmt_data_pkts": |s| Cell::Count(s.sent.repeated_packets);
    "rexmt_data_bytes": |s| Cell::Count(s.sent.repeated_bytes);
    "zwnd_probe_pkts": |s| Cell::Count(s.sent.window_probes);
    "zwnd_probe_bytes": |s| Cell::Count(s.sent.window_probe_bytes);
    "outoforder_pkts": |s| Cell::Count(s.sent.reordered_packets + s.sent.filled_packets);
    "pushed_data_pkts": |s| Cell::Count(s.sent.pushed_packets);
    "SYN/FIN_pkts_sent": |s| Cell::Counts(s.sent.syns, s.sent.fins);
    "req_1323_ws/ts": |s| {
        let offer = s.sent.offer.unwrap_or_default();
        Cell::Flags(offer.window_shift.is_some(), offer.timestamps)
    };
    "adv_wind_scale": |s| Cell::Count(s.shift());
    "req_sack": |s| Cell::Flag(s.sent.offer.is_some_and(|offer| offer.selective));
    "sacks_sent": |s| Cell::Count(s.sent.selective_packets);
    "urgent_data_pkts": |s| Cell::Count(s.sent.urgent_packets);
    "urgent_data_bytes": |s| if s.sent.urgent_packets == 0 { Cell::Count(0) } else { Cell::None };
    "mss_requested": |s| {
        Cell::Count(s.sent.offer.and_then(|offer| offer.mss_bytes).map_or(0, u64::from))
    };
    "max_segm_size": |s| Cell::Count(s.sent.segment_bytes.max);
    "min_segm_size": |s| Cell::Count(s.sent.segment_bytes.min);
    "avg_segm_size": |s| mean(s.sent.segment_bytes.sum, s.sent.segment_bytes.count);
    "max_win_adv": |s| Cell::Count(s.sent.window_bytes.max);
    "min_win_adv": |s| Cell::Count(s.sent.window_bytes.min);
    "zero_win_adv": |s| Cell::Count(s.sent.zero_windows);
    "avg_win_adv": |s| mean(s.sent.window_bytes.sum, s.sent.window_bytes.count);
    "max_owin": |s| Cell::Count(s.sent.outstanding_bytes.max);
    "min_non-zero_owin": |s| Cell::Count(s.sent.outstanding_bytes.min);
    "avg_owin": |s| mean(s.sent.outstanding_bytes.sum, s.sent.outstanding_bytes.count);
    "wavg_owin": |s| weighted_outstanding(s);
    "initial_window_bytes": |s| Cell::Count(s.sent.initial_bytes);
    "initial_window_pkts": |s| Cell::Count(s.sent.initial_packets);
    "ttl_stream_length": |s| s.sent.stream_bytes.map_or(Cell::None, Cell::Count);
    "missed_data": |s| missed(s);
    "truncated_data": |s| Cell::Count(s.sent.truncated_bytes);
    "truncated_packets": |s| Cell::Count(s.sent.truncated_packets);
    "data_xmit_time": |s| initial_time(s);
    "idletime_max": |s| if s.sent.packets == 0 { Cell::None } else { milliseconds(s.sent.longest_idle_ns as f64) };
    "hardware_dups": |s| Cell::Count(s.sent.network_duplicates);
    "throughput": |s| throughput(s);
    "RTT_samples": |s| Cell::Count(s.sent.rtt.cumulative.count);
    "RTT_min": |s| milliseconds(s.sent.rtt.cumulative.min as f64);
    "RTT_max": |s| milliseconds(s.sent.rtt.cumulative.max as f64);
    "RTT_avg": |s| average(&s.sent.rtt.cumulative);
    "RTT_stdev": |s| deviation(&s.sent.rtt.cumulative);
    "RTT_from_3WHS": |s| milliseconds(s.sent.rtt.handshake_ns.unwrap_or(0) as f64);
    "RTT_full_sz_smpls": |s| Cell::Count(s.sent.rtt.full_sized.count);
    "RTT_full_sz_min": |s| milliseconds(s.sent.rtt.full_sized.min as f64);
    "RTT_full_sz_max": |s| milliseconds(s.sent.rtt.full_sized.max as f64);
    "RTT_full_sz_avg": |s| average(&s.sent.rtt.full_sized);
    "RTT_full_sz_stdev": |s| deviation(&s.sent.rtt.full_sized);
    "post-loss_acks": |s| Cell::Count(s.sent.rtt.late_acks);
    "ambiguous_acks": |s| Cell::Count(s.sent.rtt.ambiguous_acks);
    "RTT_min_(last)": |s| milliseconds(s.sent.rtt.since_repair.min as f64);
    "RTT_max_(last)": |s| milliseconds(s.sent.rtt.since_repair.max as f64);
    "RTT_avg_(last)": |s| average(&s.sent.rtt.since_repair);
    "RTT_sdv_(last)": |s| deviation(&s.sent.rtt.since_repair);
    "segs_cum_acked": |s| Cell::Count(s.sent.rtt.segments_cumulated);
    "duplicate_acks": |s| Cell::Count(s.sent.duplicate_acks);
    "triple_dupacks": |s| Cell::Count(s.sent.triple_duplicates);
    "max_#_retrans": |s| Cell::Count(u64::from(s.sent.max_repeats));
    "min_retr_time": |s| milliseconds(s.sent.repeat_time.min as f64);
    "max_retr_time": |s| milliseconds(s.sent.repeat_time.max as f64);
    "avg_retr_time": |s| average(&s.sent.repeat_time);
    "sdv_retr_time": |s| deviation(&s.sent.repeat_time);
};
