//! The table of `tcptrace -l -r -W --csv`.
mod column;

use crate::number::Seconds;
use column::{COLUMNS, Column, Side};
use core::fmt::{self, Write};
use fathom_flow::{End, FlowSummary, Flows};

/// Columns before those that come in pairs.
const BEFORE: &str = "conn_#,host_a,host_b,port_a,port_b,first_packet,last_packet,";

/// A name that tcptrace spells otherwise in its first column than in its second.
const SLIP: &str = "RTT_full_sz_stdev";
const SLIPPED: &str = "RTT full_sz_stdev";

/// Writes the header, an empty line and a row for each flow, as `tcptrace -n -l -r -W --csv` does
/// after its comments; each line ends with a comma, and cells of the pairs are 15 wide.
///
/// Deliberately other than tcptrace 6.6.7:
/// - Fractions of times have their leading zeros (`.000123`, not `.123`).
/// - `owin` excludes data that SACK reports as received, and without the one byte too many;
///   `wavg_owin` is over the time in which data was outstanding, and not the whole connection.
/// - `avg_segm_size` is the mean, not one byte less; `win_adv` are of all segments but SYN and RST.
/// - `outoforder_pkts` has, as there, also retransmissions whose original was lost before the
///   capture point: they come out of order. `rexmt_data` counts what passed here before, however
///   long ago.
/// - `RTT_full_sz` are of full segments; tcptrace's are, on systems of 64 bits, of the SYN alone.
/// - `hardware_dups` are recognized by their content, not by the identification alone, and so also
///   of IPv6.
/// - `duplicate_acks` are those of RFC 5681 section 2: while data is outstanding.
/// - `RTT_samples` leave out (as `post-loss_acks`) ACKs that waited for a repair by SACK and
///   timestamps, not by the order of sending alone.
/// - `req_1323`, `mss_requested` and `resets_sent` are those of the SYN where one was seen, and
///   counts do not end at 255.
/// - `urgent_data_bytes` is `NA` where there is any: its field is not kept.
///
/// # Errors
/// Those of `out`.
pub fn tcptrace_csv(flows: &Flows, out: &mut impl Write) -> fmt::Result {
    out.write_str(BEFORE)?;
    for Column { name, .. } in COLUMNS {
        let first = if *name == SLIP { SLIPPED } else { name };
        write!(out, "{first}_a2b,{name}_b2a,")?;
    }
    out.write_str("\n\n")?;
    flows.flows.iter().zip(1..).try_for_each(|(flow, number)| row(number, flow, out))
}

fn row(number: u64, flow: &FlowSummary, out: &mut impl Write) -> fmt::Result {
    let [a, b] = flow.ends;
    write!(out, "{number},{},{},{},{},", a.0, b.0, a.1, b.1)?;
    write!(out, "{} , {} ,", Seconds(flow.first.at), Seconds(flow.last.at))?;
    for column in COLUMNS {
        for end in [End::A, End::B] {
            write!(out, "{:>15},", (column.cell)(&Side { flow, sent: flow.sent_by(end), end }))?;
        }
    }
    out.write_str("\n")
}
