//! A script with `nmcli`: TBF with `fq_codel` inside, as NetworkManager has no options of CAKE. Its
//! attributes and their units: `tc_qdisc_tbf_spec` and `tc_qdisc_fq_codel_spec` in
//! `src/libnm-core-impl/nm-utils.c`, and `_nl_msg_new_qdisc` in
//! `src/libnm-platform/nm-linux-platform.c`.
use crate::comment::{About, Style, comment};
use crate::shaper::Shaper;
use alloc::format;
use alloc::string::String;
use fathom_shape::{Codel, codel};
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Rate};

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let wan = shaper.wan;
    let connection = format!("connection=$(nmcli -g GENERAL.CONNECTION device show {wan})");
    let about = About {
        unit: "byte/s",
        limits: &[
            "only the upload: NetworkManager has no ifb. For both directions: linux-tc or systemd-networkd.",
            "it replaces the qdiscs of the connection, and removes those of other programs when it activates it.",
        ],
        apply: "as root: sh FILE. It activates the connection again, which interrupts it for a moment.",
        undo: &format!(
            "as root:\n{connection}\nnmcli connection modify \"$connection\" tc.qdiscs \"\"\nnmcli connection up \"$connection\""
        ),
    };
    let qdiscs = shaper.up.map(|rate| qdiscs(rate, shaper.round_trip)).unwrap_or_default();
    format!(
        "#!/bin/sh\n{}set -eu\n{connection}\nnmcli connection modify \"$connection\" tc.qdiscs \"{qdiscs}\"\n\
         nmcli connection up \"$connection\"\n",
        comment(Style::Lines("#"), shaper, &about)
    )
}

/// Timers have this accuracy.
const BURST_TIME: Duration = Duration::from_millis(1);
/// Length of the queue that TBF has until `fq_codel` replaces it.
const LIMIT: Bytes = Bytes(10 * ETHERNET_FULL_FRAME.get());

fn qdiscs(rate: Rate, round_trip: Option<Duration>) -> String {
    let Codel { target, interval, quantum } = codel(rate, round_trip);
    let burst = rate.bytes_in(BURST_TIME).max(Bytes(2 * ETHERNET_FULL_FRAME.get()));
    let micros = |key: &str, time: Option<Duration>| {
        time.map(|time| format!(" {key} {}", time.as_nanos().div_ceil(1_000))).unwrap_or_default()
    };
    format!(
        "root handle 1: tbf rate {} burst {} limit {}, parent 1:1 handle 10: fq_codel ecn{}{}{}",
        rate.as_bits_per_second() / 8,
        burst.get(),
        LIMIT.get(),
        micros("target", target),
        micros("interval", interval),
        quantum.map(|bytes| format!(" quantum {bytes}")).unwrap_or_default()
    )
}
