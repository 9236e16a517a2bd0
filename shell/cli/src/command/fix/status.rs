//! `fathom fix --status`: shows what is shaped.
use super::show;
use crate::args::FixArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console};
use fathom_app::fix::{InterfaceStatus, ShaperState, SideStatus, status};
use fathom_prose::autorate_reason;
use fathom_shape::autorate::Reason;
use fathom_text::{counted, milliseconds, rate};
use fathom_units::{Bytes, Direction, Rate};
use serde_json::Value;
use std::path::Path;

/// Shows what is shaped, with counters, or how the last fix ended.
pub(super) fn run(args: &FixArgs, device: Option<&str>, console: Console) -> Outcome {
    let report = status(&args.state, device)?;
    if args.json {
        return show::print_json(&report.result);
    }
    if report.interfaces.is_empty() {
        let last = report.last.map(|why| format!(" (the last fix was rolled back: {why})"));
        terminal::print(&format!("nothing is shaped{}\n", last.unwrap_or_default()))?;
    }
    for one in &report.interfaces {
        let text = text(one, &args.state);
        let text = if console.is_quiet() {
            text.lines().next().map(|line| format!("{line}\n")).unwrap_or_default()
        } else {
            text
        };
        terminal::print(&text)?;
    }
    Ok(Exit::Healthy)
}

const fn state_words(state: ShaperState) -> &'static str {
    match state {
        ShaperState::On => "shaped",
        ShaperState::OnTrial => "shaped on trial",
        ShaperState::EarlierBoot => "not shaped (left from before the last system start)",
        ShaperState::OtherNamespace => "shaped in another network namespace",
    }
}

fn text(one: &InterfaceStatus, folder: &Path) -> String {
    let InterfaceStatus { interface, state, shaper, began, process, sides, auto } = one;
    let how = if auto.is_some() { "shaped with --auto" } else { state_words(*state) };
    let mut text = format!("{interface}: {how} since {began}, with {shaper}\n");
    for (direction, side) in sides.iter().filter_map(|(direction, side)| Some((direction, side.as_ref()?))) {
        let (what, key) = match direction {
            Direction::Up => ("egress", "up"),
            Direction::Down => ("ingress", "down"),
        };
        let now = auto.as_ref().map(|auto| &auto[key]);
        let bits = now.and_then(|now| now["rate_bits_per_second"].as_u64());
        let rate = bits.map_or(side.rate, Rate::from_bits_per_second);
        text += &format!("  {what}: at most {rate}{}\n", counters(side, *state));
        if let (Some(now), Some(auto)) = (now, auto) {
            text += &auto_words(now, auto["at_unix_s"].as_u64().unwrap_or_default());
        }
    }
    if auto.is_some() {
        return text + &format!("  stop and roll back: kill {process}\n");
    }
    text + "  " + &show::undo_line(interface, folder)
}

fn counters(side: &SideStatus, state: ShaperState) -> String {
    match &side.counters {
        Some(stats) => {
            let (bytes, waits) = (Bytes(stats.sent_bytes), Bytes(u64::from(stats.backlog_bytes)));
            let dropped = counted(u64::from(stats.drops), "packet", "packets");
            format!("; {bytes} sent, {dropped} dropped, {waits} queued")
        }
        None if state.is_on() => "; THE SHAPER IS GONE: another program removed it".to_owned(),
        None => String::new(),
    }
}

/// The sentence for a reason in a status.
fn reason_words(name: &Value) -> Option<&'static str> {
    name.as_str().and_then(Reason::from_name).map(autorate_reason)
}

/// The reason of the present rate, and its last change.
fn auto_words(now: &Value, at_s: u64) -> String {
    let Some(why) = reason_words(&now["reason"]) else { return String::new() };
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let delay = now["delay_above_usual_s"].as_f64().map_or_else(
        || "delay beyond our queue unknown".to_owned(),
        |delay| format!("delay beyond our queue {} above its baseline", milliseconds(delay.max(0.0))),
    );
    let mut text =
        format!("    {why}\n    {} delivered, {delay}\n", rate(number(&now["delivered_bits_per_second"])));
    let last = &now["last_change"];
    if let (Some(cause), Some(then_s)) = (reason_words(&last["reason"]), last["at_unix_s"].as_u64()) {
        let (from, to) = (number(&last["from_bits_per_second"]), number(&last["to_bits_per_second"]));
        let ago_s = at_s.saturating_sub(then_s);
        text += &format!("    {ago_s} s ago {} -> {}, {cause}\n", rate(from), rate(to));
    }
    let counts = now["decisions"].as_object().into_iter().flatten();
    let counts: Vec<String> = counts.map(|(reason, count)| format!("{reason} {count}")).collect();
    text + &format!("    decisions: {}\n", counts.join(", "))
}
