//! The lines of a fleet in words.
use crate::{Level, Verdict};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_text::{milliseconds, thousands};

/// The verdict about `sites` with a test, of which some are bloated.
pub fn fleet_verdict(sites: usize, bloated: usize) -> Verdict {
    counted_verdict((bloated, sites), "sites", are_bloated(bloated))
}

/// The verdict about buffers, of which some take too long to drain.
pub fn buffers_verdict(buffers: usize, deep: usize) -> Verdict {
    counted_verdict((deep, buffers), "buffers", are_bloated(deep))
}

const fn are_bloated(count: usize) -> &'static str {
    if count == 1 { "is bloated" } else { "are bloated" }
}

fn counted_verdict((some, all): (usize, usize), what: &str, how: &str) -> Verdict {
    let headline = format!("{} of {} {what} {how}.", thousands(some as f64), thousands(all as f64));
    match (all, some) {
        (0, _) => untested(),
        (_, 0) => verdict(Level::Good, headline),
        _ => verdict(Level::Fair, headline),
    }
}

/// The verdict about one site, by the median of its lags in seconds.
pub fn site_verdict(site: &str, lag_s: Option<f64>, limit_s: f64) -> Verdict {
    match lag_s {
        None => untested(),
        Some(lag) if lag >= limit_s => verdict(Level::Fair, format!("{site} {}.", are_bloated(1))),
        Some(_) => verdict(Level::Good, format!("{site} {}.", "is not bloated")),
    }
}

/// The verdict about sites with enough tests before and after, of which some are better or worse.
pub fn changes_verdict(sites: usize, better: usize, worse: usize) -> Verdict {
    if sites == 0 {
        return untested();
    }
    let (level, verb) =
        (if worse == 0 { Level::Good } else { Level::Fair }, if better == 1 { "is" } else { "are" });
    let of = format!("{} of {} sites", thousands(better as f64), thousands(sites as f64));
    verdict(level, format!("{of} {verb} better, {} worse.", thousands(worse as f64)))
}

/// The verdict about a trend, by the first and the last median lag in seconds.
pub fn trend_verdict(ends_s: Option<(f64, f64)>, limit_s: f64) -> Verdict {
    let Some((first, last)) = ends_s else { return untested() };
    let level = if last >= limit_s { Level::Fair } else { Level::Good };
    verdict(level, format!("Median lag: {}, then {}.", milliseconds(first), milliseconds(last)))
}

/// The verdict about sites, of which some slowed down together.
pub fn together_verdict(sites: usize, slow: usize) -> Verdict {
    counted_verdict((slow, sites), "sites", "slowed down together")
}

fn untested() -> Verdict {
    verdict(Level::NoResult, "No site was tested.".to_string())
}

const fn verdict(level: Level, headline: String) -> Verdict {
    Verdict { level, headline, consequence: None }
}
