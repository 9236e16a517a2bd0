//! `fathom fix --status`.
use super::{failure, show};
use crate::failure::{Exit, Outcome};
use crate::terminal;
use fathom_fix::auto::Status;
use fathom_shaper::{Kernel, Of, Phase, Place, State, shaper_counters};
use fathom_tc::Stats;
use fathom_text::{milliseconds, rate};
use fathom_units::{Bytes, Rate, WallTime};
use serde_json::{Value, json};
use std::path::Path;

/// What is on, and what passed; or what became of the last fix.
pub(super) fn run(folder: &Path, device: Option<&str>, is_json: bool) -> Outcome {
    let mut places = Place::all(folder).map_err(|error| failure(&error))?;
    places.retain(|place| device.is_none_or(|device| device == place.device));
    let mut all = Vec::new();
    for place in &places {
        if let Some(state) = place.read().map_err(|error| failure(&error))? {
            all.push(describe(place, &state));
        }
    }
    if is_json {
        return show::print_json(&json!(all));
    }
    if all.is_empty() {
        let last = device.and_then(|device| std::fs::read_to_string(Place::new(folder, device).last()).ok());
        let last =
            last.map_or_else(String::new, |why| format!(" (the last fix was put back: {})", why.trim()));
        terminal::print(&format!("nothing is on{last}\n"))?;
    }
    for one in all {
        terminal::print(&text(&one, folder))?;
    }
    Ok(Exit::Healthy)
}

fn describe(place: &Place, state: &State) -> Value {
    let here = Of::here();
    let phase = match (state.phase, &state.of) {
        (_, of) if of.boot != here.boot => "of an earlier start of the system",
        (_, of) if of.namespace != here.namespace => "in another network namespace",
        (Phase::Trial, _) => "on trial",
        (Phase::Committed, _) => "on",
    };
    let is_here = state.of == here;
    let side = |key: &str| {
        let side = &state.about[key];
        let counters = if is_here { counters(side) } else { None };
        json!({ "rate_bits_per_second": side["rate_bits_per_second"], "counters": counters.as_ref().map(numbers) })
    };
    json!({
        "interface": place.device, "state": phase, "shaper": state.about["shaper"],
        "began_unix_s": state.began_unix_s, "process": state.pid, "up": side("up"), "down": side("down"),
        "auto": auto(place, state),
    })
}

/// What the process that keeps its rates right wrote last; that of an earlier process is not it.
fn auto(place: &Place, state: &State) -> Value {
    let text = std::fs::read_to_string(Status::file(place)).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    if value["process"] == state.pid && state.phase == Phase::Trial { value } else { Value::Null }
}

/// Of the queue discipline that a side names, if it is still there.
fn counters(side: &Value) -> Option<Stats> {
    let (device, name) = (side["interface"].as_str()?, side["qdisc"].as_str()?);
    let major = u16::from_str_radix(name.trim_end_matches(':'), 16).ok()?;
    shaper_counters(&mut Kernel::open().ok()?, device, major).ok().map(|(stats, _)| stats)
}

fn numbers(stats: &Stats) -> Value {
    json!({
        "sent_bytes": stats.sent_bytes, "sent_packets": stats.sent_packets, "dropped_packets": stats.drops,
        "marked_packets": stats.marks(), "backlog_bytes": stats.backlog_bytes,
    })
}

fn text(one: &Value, folder: &Path) -> String {
    let began = WallTime(one["began_unix_s"].as_u64().unwrap_or_default().saturating_mul(1_000_000_000));
    let device = one["interface"].as_str().unwrap_or_default();
    let word = |key: &str| one[key].as_str().unwrap_or_default();
    let is_auto = !one["auto"].is_null();
    let how = if is_auto { "kept right" } else { word("state") };
    let mut text = format!("{device}: {how} since {began}, by {}\n", word("shaper"));
    for (key, what) in [("up", "what leaves"), ("down", "what arrives")] {
        let now = &one["auto"][key];
        let bits = now["rate_bits_per_second"].as_u64().or(one[key]["rate_bits_per_second"].as_u64());
        let Some(bits) = bits else { continue };
        text += &format!(
            "  {what}: at most {}{}\n",
            Rate::from_bits_per_second(bits),
            side_words(&one[key]["counters"], word("state"))
        );
        text += &auto_words(now, one["auto"]["at_unix_s"].as_u64().unwrap_or_default());
    }
    if let (true, Some(pid)) = (is_auto, one["process"].as_u64()) {
        return text + &format!("  end: kill {pid} (all is as it was before then)\n");
    }
    text + &format!("  undo: fathom fix --undo {device}{}\n", show::state_flag(folder))
}

fn side_words(counters: &Value, state: &str) -> String {
    let number = |key: &str| counters[key].as_u64().unwrap_or_default();
    if !counters.is_null() {
        let (bytes, waits) = (Bytes(number("sent_bytes")), Bytes(number("backlog_bytes")));
        return format!("; {bytes} passed, {} packets dropped, {waits} wait now", number("dropped_packets"));
    }
    if state.starts_with("on") {
        return "; THE SHAPER IS GONE: something else took it away".to_owned();
    }
    String::new()
}

/// Why a rate is what it is, and how it came to be.
fn auto_words(now: &Value, at_s: u64) -> String {
    let Some(why) = now["words"].as_str() else { return String::new() };
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let delay = now["delay_above_usual_s"].as_f64().map_or_else(
        || "delay beyond our queue unknown".to_owned(),
        |delay| format!("delay beyond our queue {} above the usual", milliseconds(delay.max(0.0))),
    );
    let mut text =
        format!("    {why}\n    {} pass, {delay}\n", rate(number(&now["delivered_bits_per_second"])));
    let last = &now["last_change"];
    if let (Some(cause), Some(then_s)) = (last["words"].as_str(), last["at_unix_s"].as_u64()) {
        let [from, to] = ["from_bits_per_second", "to_bits_per_second"].map(|key| rate(number(&last[key])));
        text += &format!("    {} s ago {from} -> {to}, {cause}\n", at_s.saturating_sub(then_s));
    }
    let counts = now["decisions"].as_object().into_iter().flatten();
    let counts: Vec<String> = counts.map(|(reason, count)| format!("{reason} {count}")).collect();
    text + &format!("    decisions: {}\n", counts.join(", "))
}
