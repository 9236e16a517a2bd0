//! A fix in words: its steps, its checks, what conflicts with a shaper, how it ended.
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{Conclusion, ConflictCause, Criterion, Finding, ShaperBypass, ShaperCheck, ShaperConflict};
use fathom_shape::fix::{Event, MeasuredOverhead, Outcome, OverheadSource, Purpose};
use fathom_shape::knee::{Found, Trial};
use fathom_text::{milliseconds, percent, rate};
use fathom_units::{Direction, Rate};

/// A check in words: what is checked, what was measured, and what is required.
pub(crate) fn check(check: &ShaperCheck) -> String {
    let phase = check.phase.name();
    let text = match &check.criterion {
        Criterion::Latency { increase_p50_s, limit_s } => format!(
            "delay under load, above idle: {} (at most {})",
            increase_p50_s.map_or_else(|| "no answers".to_string(), milliseconds),
            milliseconds(*limit_s)
        ),
        Criterion::Goodput {
            before_bits_per_second: before,
            after_bits_per_second: after,
            required_ratio,
        } => {
            format!(
                "goodput: {} ({} of before) (at least {} of {})",
                rate(*after),
                percent(after / before),
                percent(*required_ratio),
                rate(*before)
            )
        }
        Criterion::Bottleneck { direction, throughput_ratio, min_ratio, max_ratio, held_packets } => format!(
            "the {direction} shaper is the bottleneck: {} of its rate, {held_packets} packets held ({} to {}, and some held)",
            percent(*throughput_ratio),
            percent(*min_ratio),
            percent(*max_ratio)
        ),
        Criterion::Bypass { shaped_ratio, min_ratio, .. } => {
            let shaped = match (shaped_ratio, check.passed) {
                (Some(ratio), _) => format!("{} of the bytes do", percent(*ratio)),
                (None, true) => "they do".to_string(),
                (None, false) => "some are in no class".to_string(),
            };
            format!("all packets pass the shaper: {shaped} (at least {})", percent(*min_ratio))
        }
        Criterion::Processor { busy_ratio, max_ratio } => format!(
            "CPU headroom for packet processing: the busiest CPU spends {} of its time on packets (at most {}; else try a lower \
             rate, or a lighter shaper)",
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
        ConflictCause::NoDefaultRoute { default_routes } => format!(
            "no default route leads through {interface}, but through {}: the wrong interface?",
            default_routes.join(", ")
        ),
        ConflictCause::Offload { connection_count } => format!(
            "{connection_count} connections are offloaded (nft flowtable): they bypass all queues, the shaper's too"
        ),
        ConflictCause::HardwareOffload => format!(
            "the card of {interface} may forward packets by itself (hw-tc-offload is on): those bypass the shaper"
        ),
        ConflictCause::NetworkManager { file } => {
            format!("NetworkManager sets queues by {file}: it removes ours when it activates that")
        }
        ConflictCause::Networkd { file } => {
            format!("systemd-networkd sets queues by {file}: it replaces ours when it configures {interface}")
        }
        ConflictCause::SqmScripts => format!(
            "sqm-scripts shapes {interface} too: it removes our queues at each event of the interface"
        ),
        ConflictCause::Bypass {
            bypass: ShaperBypass::Unshaped { direction, interface_bytes, shaped_bytes },
        } => {
            let verb = match direction {
                Direction::Up => "left",
                Direction::Down => "arrived",
            };
            format!(
                "{interface_bytes} bytes {verb} by {interface}, but {shaped_bytes} passed the shaper: the rest bypasses it"
            )
        }
        ConflictCause::Bypass { bypass: ShaperBypass::Unclassified { unclassified_packets } } => {
            format!("{unclassified_packets} packets passed HTB outside of all classes, unshaped")
        }
        ConflictCause::NoTraffic => {
            format!("not one packet passed by {interface} in that time: the wrong interface?")
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
            format!("fathom fix {first}, if that is where the slow line is")
        }
        ConflictCause::Offload { .. } => {
            "take the flowtable out of the firewall; on OpenWrt: uci set firewall.@defaults[0].flow_offloading=0; \
             uci set firewall.@defaults[0].flow_offloading_hw=0; uci commit firewall; service firewall restart"
                .to_string()
        }
        ConflictCause::HardwareOffload => format!("ethtool -K {interface} hw-tc-offload off"),
        ConflictCause::NetworkManager { file } => format!(
            "take [tc] out of it: nmcli connection modify {} remove tc",
            file.rsplit('/').next().unwrap_or(file).trim_end_matches(".nmconnection")
        ),
        ConflictCause::Networkd { .. } => {
            "take the queue's section out of it, then: networkctl reload".to_string()
        }
        ConflictCause::SqmScripts => "service sqm stop; service sqm disable".to_string(),
        ConflictCause::Bypass { bypass: ShaperBypass::Unshaped { .. } } => format!(
            "look for offload: nft list flowtables; ethtool -k {interface} (hw-tc-offload); for an XDP program: ip link show \
             {interface}; and for filters that take packets before ours: tc filter show dev {interface} ingress"
        ),
        ConflictCause::Bypass { bypass: ShaperBypass::Unclassified { .. } } => {
            "something changed its classes: fathom fix --undo, then fix again".to_string()
        }
        ConflictCause::NoTraffic => {
            "ip route get 1.1.1.1, for the interface that leads to the Internet".to_string()
        }
    })
}

/// How a fix with a search ended, in one sentence.
pub fn fix_headline(interface: &str, outcome: Outcome) -> String {
    match outcome {
        Outcome::NotNeeded => format!(
            "{interface} needs no fix: the line has no more delay under load than a shaper would leave. Nothing was changed."
        ),
        Outcome::NotVerified => {
            format!("{interface} is as before: the shaper did not pass the checks, and was rolled back.")
        }
        Outcome::Planned => "Nothing was changed (--dry-run).".to_string(),
        Outcome::Verified => format!("{interface} is shaped and verified. The shaper stays."),
    }
}

/// A step of a fix, where it is worth a line. The checks of an attempt are findings: see [`crate::finding`].
pub fn fix_step(event: &Event) -> Option<String> {
    Some(match event {
        Event::TrialStarted { .. }
        | Event::AttemptPrepared(_)
        | Event::Verified(_)
        | Event::Measuring(Purpose::Search(_)) => return None,
        Event::Measuring(Purpose::Baseline) => "measuring the line without a shaper".to_string(),
        Event::Measuring(Purpose::Overhead) => {
            "measuring the line with small packets and with large ones".to_string()
        }
        Event::Measuring(Purpose::Verification) => "measuring the line with the shaper".to_string(),
        Event::Overhead(found) => overhead(*found),
        Event::SearchStarted { direction, reused_trials: 0 } => {
            format!("searching for the {direction} knee: load through a shaper at a series of rates")
        }
        Event::SearchStarted { direction, reused_trials } => {
            format!("searching for the {direction} knee: reusing {reused_trials} trials of an earlier search")
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
        return "  the overhead of packets beyond IP cannot be measured: sizes are counted as the interface sees them"
            .to_string();
    };
    let by = match source {
        OverheadSource::PacketSizes => "by loads of two packet sizes",
        OverheadSource::LinkType => "as is usual with PPP",
    };
    format!("  a packet takes {bytes} bytes beyond IP, {by}")
}

fn trial(trial: &Trial) -> String {
    let verdict = match (trial.is_delayed, trial.is_demanded) {
        (true, _) => "a queue behind the shaper",
        (false, true) => "no queue but the shaper's",
        (false, false) => "the load did not fill it",
    };
    let (offered, delay) = (mbit(trial.offered), milliseconds(trial.delay.as_secs_f64()));
    format!("  {offered:>12}  {delay:>8} above idle  {verdict}")
}

fn knee(direction: Direction, found: &Found) -> String {
    let above =
        found.above.map_or_else(String::new, |above| format!("; with {} a queue begins", mbit(above)));
    let varies = if found.is_varying { "; the line's rate varies" } else { "" };
    format!("  {direction}: {} without a queue{above}{varies}", mbit(found.rate))
}
