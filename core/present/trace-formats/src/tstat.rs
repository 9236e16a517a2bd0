//! Tstat's `log_tcp_complete`.
use crate::number::{MS, Milliseconds, deviation};
use crate::per_flow::PerFlow;
use core::fmt::{self, Write};
use fathom_flow::{End, FlowId, FlowSummary, Flows, Header, Moments, Offer, Sink, Totals};

/// The sets of columns by Tstat's bits: end-to-end and options in addition to the core.
const SETS: &str = "#09";
/// Columns of each side in the core set.
const CORE: [&str; 14] = [
    "ip",
    "port",
    "pkts_all",
    "rst_cnt",
    "ack_cnt",
    "ack_cnt_p",
    "bytes_uniq",
    "pkts_data",
    "bytes_all",
    "pkts_retx",
    "bytes_retx",
    "pkts_ooo",
    "syn_cnt",
    "fin_cnt",
];
/// Columns of the core set after those.
const TIMES: [&str; 16] = [
    "first",
    "last",
    "durat",
    "c_first",
    "s_first",
    "c_last",
    "s_last",
    "c_first_ack",
    "s_first_ack",
    "c_isint",
    "s_isint",
    "c_iscrypto",
    "s_iscrypto",
    "con_t",
    "p2p_t",
    "http_t",
];
/// Columns of each side in the end-to-end set.
const END_TO_END: [&str; 7] = ["rtt_avg", "rtt_min", "rtt_max", "rtt_std", "rtt_cnt", "ttl_min", "ttl_max"];
/// Columns of each side in the options set.
const OPTIONS: [&str; 23] = [
    "f1323_opt",
    "tm_opt",
    "win_scl",
    "sack_opt",
    "sack_cnt",
    "mss",
    "mss_max",
    "mss_min",
    "win_max",
    "win_min",
    "win_0",
    "cwin_max",
    "cwin_min",
    "cwin_ini",
    "pkts_rto",
    "pkts_fs",
    "pkts_reor",
    "pkts_dup",
    "pkts_unk",
    "pkts_fc",
    "pkts_unrto",
    "pkts_unfs",
    "syn_retx",
];

/// When each end sent its first ACK, which no summary keeps, and the lines of `log_tcp_complete`:
/// its core, end-to-end and options columns, in milliseconds and separated by spaces. Give it to a
/// tracer as a [`Sink`], then ask for [`Tstat::write`].
///
/// Deliberately other than Tstat:
/// - Every flow has a line, also one that began before the capture or did not end in it.
/// - Round trips and losses do not end at 100 segments in flight. Kinds of retransmission are
///   distinguished by SACK, timestamps and D-SACK: `pkts_fs` has those of RACK and of tail loss
///   probes, too, and `pkts_unfs` all that were needless (`pkts_unrto` is 0). A segment whose
///   original was lost before the capture is a retransmission, and counts as out of order, too.
/// - `cwin` is the outstanding data, without data that SACK reports as received.
/// - What Tstat reports about the payload (`con_t`, `p2p_t`, `http_t`) is 0, as are `isint` and
///   `iscrypto`.
#[derive(Debug)]
pub struct Tstat {
    first_acks: PerFlow<[Option<i64>; 2]>,
}

impl Default for Tstat {
    fn default() -> Self {
        Tstat::new()
    }
}

impl Sink for Tstat {
    fn packet(&mut self, flow: FlowId, header: &Header) {
        // Neither the answer to a SYN nor a refusal, as in Tstat.
        if header.flags & u16::from(ACK | SYN | RST) != u16::from(ACK) {
            return;
        }
        if self.first_acks.get(flow).is_none() {
            self.first_acks.add(flow, [None; 2]);
        }
        if let Some(first) = self.first_acks.get(flow).and_then(|both| both.get_mut(header.end as usize)) {
            first.get_or_insert(header.times.at);
        }
    }
    fn forgotten(&mut self, flow: FlowId) {
        self.first_acks.take(flow);
    }
}

/// Flags of a TCP header (RFC 9293 section 3.1).
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

impl Tstat {
    /// Nothing was seen.
    pub const fn new() -> Self {
        Tstat { first_acks: PerFlow::new() }
    }
    /// Writes the header and a line for each flow.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&mut self, flows: &Flows, out: &mut impl Write) -> fmt::Result {
        header(out)?;
        flows.flows.iter().try_for_each(|flow| self.line(flow, out))
    }
    fn line(&mut self, flow: &FlowSummary, out: &mut impl Write) -> fmt::Result {
        core_of(flow, End::A, out)?;
        out.write_char(' ')?;
        core_of(flow, End::B, out)?;
        let first_acks = self.first_acks.get(flow.id).copied().unwrap_or_default();
        times(flow, first_acks, out)?;
        out.write_str(" 0 0 0 0 0 0 0")?;
        [End::A, End::B].into_iter().try_for_each(|end| end_to_end(flow.sent_by(end), out))?;
        [End::A, End::B].into_iter().try_for_each(|end| options(flow.sent_by(end), out))?;
        out.write_char('\n')
    }
}

fn header(out: &mut impl Write) -> fmt::Result {
    let sides = |names: &'static [&'static str]| {
        ["c_", "s_"].into_iter().flat_map(|side| names.iter().map(move |name| (side, *name)))
    };
    let columns = sides(&CORE)
        .chain(TIMES.into_iter().map(|name| ("", name)))
        .chain(sides(&END_TO_END))
        .chain(sides(&OPTIONS));
    out.write_str(SETS)?;
    for ((side, name), number) in columns.zip(1..) {
        let before = if number == 1 { '#' } else { ' ' };
        write!(out, "{before}{side}{name}:{number}")?;
    }
    out.write_char('\n')
}

fn core_of(flow: &FlowSummary, end: End, out: &mut impl Write) -> fmt::Result {
    let (sent, (address, port)) = (flow.sent_by(end), flow.ends[end as usize]);
    write!(out, "{address} {port} {} {} {}", sent.packets, sent.resets, sent.ack_packets)?;
    write!(out, " {} {} {}", sent.pure_acks, sent.unique_bytes, sent.data_packets)?;
    let (again, bytes) = (sent.repeated_packets + sent.filled_packets, sent.repeated_bytes);
    write!(out, " {} {again} {bytes}", sent.segment_bytes.sum)?;
    write!(out, " {} {} {}", sent.reordered_packets + sent.filled_packets, sent.syns, sent.fins)
}

fn times(flow: &FlowSummary, first_acks: [Option<i64>; 2], out: &mut impl Write) -> fmt::Result {
    let since_first = |at: Option<i64>| at.map_or(0.0, |at| at.saturating_sub(flow.first.at) as f64 / MS);
    let [a, b] = flow.totals();
    write!(out, " {} {}", Milliseconds(flow.first.at), Milliseconds(flow.last.at))?;
    write!(out, " {:.6}", since_first(Some(flow.last.at)))?;
    let firsts =
        [a.first_data_at, b.first_data_at, a.last_data_at, b.last_data_at].into_iter().chain(first_acks);
    firsts.into_iter().try_for_each(|at| write!(out, " {:.6}", since_first(at)))
}

fn end_to_end(sent: &Totals, out: &mut impl Write) -> fmt::Result {
    let rtt: &Moments = &sent.rtt.cumulative;
    let mean = rtt.mean().unwrap_or(0.0);
    for nanos in [mean, rtt.min as f64, rtt.max as f64, deviation(rtt)] {
        write!(out, " {:.6}", nanos / MS)?;
    }
    let (least, most) = sent.hop_limits.unwrap_or((0, 0));
    write!(out, " {} {least} {most}", rtt.count)
}

fn options(sent: &Totals, out: &mut impl Write) -> fmt::Result {
    let offer: Offer = sent.offer.unwrap_or_default();
    let shift = offer.window_shift.unwrap_or(0);
    let (has_shift, stamps, selective) =
        (u8::from(offer.window_shift.is_some()), u8::from(offer.timestamps), u8::from(offer.selective));
    write!(out, " {has_shift} {stamps} {shift} {selective} {}", sent.selective_packets)?;
    let (segments, windows) = (&sent.segment_bytes, &sent.window_bytes);
    write!(out, " {} {} {}", offer.mss_bytes.unwrap_or(0), segments.max, segments.min)?;
    write!(out, " {} {} {}", windows.max, windows.min, sent.zero_windows)?;
    let outstanding = &sent.outstanding_bytes;
    write!(out, " {} {} {}", outstanding.max, outstanding.min, sent.initial_bytes)?;
    let causes = &sent.retransmissions;
    write!(out, " {} {} {}", causes.timeout, causes.fast + causes.probe, sent.reordered_packets)?;
    write!(out, " {} {} {}", sent.network_duplicates, causes.unknown, sent.window_probes)?;
    // Whether the timer or SACK sent what was needless is not kept.
    write!(out, " 0 {} {}", causes.spurious, u8::from(sent.syns > 1))
}
