//! Compares autorate laws.
//!
//! ```text
//! autorate [HOURS]              all laws on all lines, simulated; default: 1008 hours (six weeks)
//! autorate check                compares the fluid model with the packet simulation
//! autorate lab [round-trips]    all laws with a real shaper and real TCP; needs root
//! autorate lab LINE LAW         each second of one of these runs
//! ```
#![expect(clippy::print_stdout, reason = "its tables are its result")]
mod lab;
mod law;
mod line;
mod score;
#[cfg(test)]
mod tests;
mod weeks;
mod who;

const WEEKS: f64 = 1_008.0;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => weeks::print(WEEKS),
        ["check"] => weeks::check(),
        ["lab"] => lab::print(false),
        ["lab", "round-trips"] => lab::print(true),
        ["lab", line, law] => lab::print_seconds(line, law),
        [lab::WATCHDOG, folder] => lab::watchdog(folder),
        [hours] if hours.parse::<f64>().is_ok_and(|hours| hours > 0.0) => {
            weeks::print(hours.parse().unwrap_or(WEEKS));
        }
        _ => panic!("usage: autorate [HOURS | check | lab | lab round-trips | lab LINE LAW]"),
    }
}
