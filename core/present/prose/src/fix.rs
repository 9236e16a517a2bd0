//! A fix in words: its steps, its checks, what conflicts with a shaper, how it ended.
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{Conclusion, ConflictCause, Criterion, Finding, ShaperBypass, ShaperCheck, ShaperConflict};
use fathom_shape::fix::{Event, MeasuredOverhead, Outcome, OverheadSource, Purpose};
use fathom_shape::knee::{Found, Trial};
use fathom_text::{bytes, counted, milliseconds, percent, rate};
use fathom_units::{Direction, Rate};

/// A check in words: what is checked, what was measured, and what is required.
pub(crate) fn check(check: &ShaperCheck) -> String {
    let phase = check.phase.name();
    let text = match &check.criterion {
        Criterion::Latency { increase_p50_s, limit_s } => format!(
            "latency under load: {} above idle (median; at most {})",
            increase_p50_s.map_or_else(|| "no replies".to_string(), milliseconds),
            milliseconds(*limit_s)
        ),
        Criterion::Goodput {
            before_bits_per_second: before,
            after_bits_per_second: after,
            required_ratio,
        } => {
            format!(
                "goodput: {}, {} of the {} before (at least {})",
                rate(*after),
                percent(after / before),
                rate(*before),
                percent(*required_ratio)
            )
        }
        Criterion::Bottleneck { direction, throughput_ratio, min_ratio, max_ratio, held_packets } => format!(
            "bottleneck: the {direction} shaper passed {} of its rate ({} to {}) and held {} (at least 1)",
            percent(*throughput_ratio),
            percent(*min_ratio),
            percent(*max_ratio),
            counted(*held_packets, "packet", "packets")
        ),
        Criterion::Bypass { shaped_ratio, min_ratio, .. } => {
            let shaped = match (shaped_ratio, check.passed) {
                (Some(ratio), _) => format!("{} of the bytes pass the shaper", percent(*ratio)),
                (None, true) => "all packets pass the shaper".to_string(),
                (None, false) => "some packets pass the shaper outside of its classes".to_string(),
            };
            format!("{shaped} (at least {})", percent(*min_ratio))
        }
        Criterion::Processor { busy_ratio, max_ratio } => format!(
            "the busiest CPU spends {} of its time on packets (at most {}; else try a lower rate or a lighter shaper)",
            percent(*busy_ratio),
            percent(*max_ratio)
        ),
    };
    let verdict = if check.passed { "passed" } else { "FAILED" };
    format!("{verdict}  {phase}: {text}")
}

/// What conflicts with a shaper.
pub(crate) fn conflict(ShaperConflict { interface, cause }: &ShaperConflict) -> String {
    match cause {
        ConflictCause::NoDefaultRoute { default_routes } => {
            format!("{interface} has no default route ({} has): wrong interface?", default_routes.join(", "))
        }
        ConflictCause::Offload { connection_count } => format!(
            "{} offloaded (nft flowtable), bypassing the shaper",
            counted(*connection_count, "connection is", "connections are")
        ),
        ConflictCause::HardwareOffload => format!(
            "the card of {interface} may forward packets in hardware (hw-tc-offload is on), bypassing the shaper"
        ),
        ConflictCause::NetworkManager { file } => {
            format!(
                "NetworkManager sets queues from {file}: it removes the shaper when it activates that connection"
            )
        }
        ConflictCause::Networkd { file } => {
            format!(
                "systemd-networkd sets queues from {file}: it replaces the shaper when it configures {interface}"
            )
        }
        ConflictCause::SqmScripts => format!(
            "sqm-scripts also shapes {interface}: it removes this shaper whenever the interface changes"
        ),
        ConflictCause::Bypass {
            bypass: ShaperBypass::Unshaped { direction, interface_bytes, shaped_bytes },
        } => {
            let verb = match direction {
                Direction::Up => "left",
                Direction::Down => "arrived",
            };
            format!(
                "{} {verb} on {interface}, but only {} passed the shaper",
                bytes(*interface_bytes as f64),
                bytes(*shaped_bytes as f64)
            )
        }
        ConflictCause::Bypass { bypass: ShaperBypass::Unclassified { unclassified_packets } } => {
            format!(
                "{} passed HTB outside of all classes, unshaped",
                counted(*unclassified_packets, "packet", "packets")
            )
        }
        ConflictCause::NoTraffic => {
            format!("no packet passed {interface} in that time: wrong interface?")
        }
    }
}

/// What to try about a finding of a fix; `None` for other findings.
pub fn conflict_advice(finding: &Finding) -> Option<String> {
    let Conclusion::ShaperConflict(ShaperConflict { interface, cause }) = &finding.conclusion else {
        return None;
    };
    Some(match cause {
        ConflictCause::NoDefaultRoute { default_routes } => {
            let first = default_routes.first().map_or("DEV", String::as_str);
            format!("fathom fix {first}, if the slow line is there")
        }
        ConflictCause::Offload { .. } => {
            "remove the flowtable from the firewall; on OpenWrt: uci set firewall.@defaults[0].flow_offloading=0; \
             uci set firewall.@defaults[0].flow_offloading_hw=0; uci commit firewall; service firewall restart"
                .to_string()
        }
        ConflictCause::HardwareOffload => format!("ethtool -K {interface} hw-tc-offload off"),
        ConflictCause::NetworkManager { file } => format!(
            "remove [tc] from it: nmcli connection modify {} remove tc",
            file.rsplit('/').next().unwrap_or(file).trim_end_matches(".nmconnection")
        ),
        ConflictCause::Networkd { .. } => {
            "remove the section of the queue from it, then: networkctl reload".to_string()
        }
        ConflictCause::SqmScripts => "service sqm stop; service sqm disable".to_string(),
        ConflictCause::Bypass { bypass: ShaperBypass::Unshaped { .. } } => format!(
            "look for offload (nft list flowtables; ethtool -k {interface} | grep hw-tc-offload), an XDP program (ip link show \
             {interface}), or a filter in front of the shaper (tc filter show dev {interface} ingress)"
        ),
        ConflictCause::Bypass { bypass: ShaperBypass::Unclassified { .. } } => {
            "another program changed the classes: fathom fix --undo, then fix again".to_string()
        }
        ConflictCause::NoTraffic => {
            "ip route get 1.1.1.1 shows the interface that leads to the Internet".to_string()
        }
    })
}

/// How a fix with a search ended, in one sentence.
pub fn fix_headline(interface: &str, outcome: Outcome) -> String {
    match outcome {
        Outcome::NotNeeded => format!(
            "{interface} needs no fix: the line has no more lag when busy than a shaper would leave. Nothing was changed."
        ),
        Outcome::NotVerified => {
            format!("Verification failed: the shaper of {interface} was rolled back.")
        }
        Outcome::Planned => "Nothing was changed (--dry-run).".to_string(),
        Outcome::Verified => {
            format!("{interface} is shaped, and the result is verified. The shaper stays on.")
        }
    }
}

/// A step of a fix, where it is worth a line. The checks of an attempt are findings: see
/// [`crate::finding`].
pub fn fix_step(event: &Event) -> Option<String> {
    Some(match event {
        Event::TrialStarted { .. }
        | Event::AttemptPrepared(_)
        | Event::Verified(_)
        | Event::Measuring(Purpose::Search(_)) => return None,
        Event::Measuring(Purpose::Baseline) => "measuring the line without a shaper".to_string(),
        Event::Measuring(Purpose::Overhead) => "measuring the line with small and large packets".to_string(),
        Event::Measuring(Purpose::Verification) => "measuring the line with the shaper".to_string(),
        Event::Overhead(found) => overhead(*found),
        Event::SearchStarted { direction, reused_trials: 0 } => {
            format!("searching for the {direction} knee: load through a shaper at different rates")
        }
        Event::SearchStarted { direction, reused_trials } => {
            format!(
                "searching for the {direction} knee: reusing {} of an earlier search",
                counted(*reused_trials as u64, "trial", "trials")
            )
        }
        Event::TrialEnded { trial: one, .. } => trial(one),
        Event::KneeFound { direction, knee: found } => knee(*direction, found),
        Event::AttemptRolledBack => "verification failed: rolled back".to_string(),
    })
}

fn mbit(value: Rate) -> String {
    rate(value.as_bits_per_second() as f64)
}

fn overhead(overhead: Option<MeasuredOverhead>) -> String {
    let Some(MeasuredOverhead { bytes, source }) = overhead else {
        return "  the overhead of packets beyond IP cannot be measured: using sizes as the interface counts them"
            .to_string();
    };
    let by = match source {
        OverheadSource::PacketSizes => "measured with two packet sizes",
        OverheadSource::LinkType => "the usual value with PPP",
    };
    format!("  each packet takes {bytes} bytes beyond IP ({by})")
}

fn trial(trial: &Trial) -> String {
    let verdict = match (trial.is_delayed, trial.is_demanded) {
        (true, _) => "a queue forms behind the shaper",
        (false, true) => "only the shaper has a queue",
        (false, false) => "the load did not fill the shaper",
    };
    let (offered, delay) = (mbit(trial.offered), milliseconds(trial.delay.as_secs_f64()));
    format!("  {offered:>12}  {delay:>8} above idle  {verdict}")
}

fn knee(direction: Direction, found: &Found) -> String {
    let above =
        found.above.map_or_else(String::new, |above| format!("; a queue forms from {} on", mbit(above)));
    let varies = if found.is_varying { "; the line's rate varies" } else { "" };
    format!("  {direction}: {} without a queue{above}{varies}", mbit(found.rate))
}
