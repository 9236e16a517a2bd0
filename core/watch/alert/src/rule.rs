//! One rule: the series it covers, its condition, and the receivers it notifies.
use crate::{Condition, Flapping};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Duration;

/// An `[[alert]]` of the configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// Unique among the rules.
    pub name: String,
    /// The series it covers.
    pub scope: Scope,
    /// The condition that raises the alert.
    pub condition: Condition,
    /// How long the condition must hold before the alert is raised.
    pub hold: Duration,
    /// How long the condition must be absent before the alert is cleared.
    pub clear_after: Duration,
    /// Names of the receivers. If empty, the alert appears only on the page and in the history.
    pub to: Vec<String>,
    /// Of the raised alerts of a series, only the one with the lowest number is sent. Alerts
    /// without a number are always sent.
    pub priority: Option<u64>,
    /// Interval of repeated notifications while it is raised.
    pub repeat: Option<Duration>,
    /// When the alert counts as flapping.
    pub flapping: Flapping,
    /// A note for the reader, included in notifications.
    pub note: String,
}

/// The series that a rule covers: those that match one pattern of each list. `*` matches any
/// characters, `?` matches one.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Scope {
    /// Target names with their group: `home/*`. Empty for all.
    pub target: Vec<String>,
    /// Groups. Empty for all.
    pub group: Vec<String>,
    /// Series: `icmp`, `hop *`. Empty for the main series only, without phases of a connection and
    /// routers.
    pub probe: Vec<String>,
}

impl Scope {
    /// Whether the scope includes a series. `is_main`: whether it is the main series of its target.
    pub fn has(&self, target: &str, group: &str, probe: &str, is_main: bool) -> bool {
        let fits = |patterns: &[String], text: &str| patterns.iter().any(|p| matches_glob(text, p));
        (self.target.is_empty() || fits(&self.target, target))
            && (self.group.is_empty() || fits(&self.group, group))
            && if self.probe.is_empty() { is_main } else { fits(&self.probe, probe) }
    }
}

/// Whether `text` matches `pattern`, in which `*` matches any characters and `?` matches one.
pub(crate) fn matches_glob(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut at, mut p) = (0, 0);
    // Position of the last star, and the end of the text it covers so far.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, at));
                p += 1;
            }
            Some(letter) if *letter == '?' || Some(letter) == text.get(at) => (at, p) = (at + 1, p + 1),
            _ => match star {
                Some((place, covered)) => {
                    star = Some((place, covered + 1));
                    (at, p) = (covered + 1, place + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (text, pattern, want) in [
            ("home/router", "home/*", true),
            ("home/router", "*", true),
            ("home/router", "*router", true),
            ("home/router", "h*r*r", true),
            ("home/router", "home/?outer", true),
            ("home/router", "home", false),
            ("home/router", "", false),
            ("", "", true),
            ("", "*", true),
            ("hop 12", "hop ?", false),
            ("aab", "*ab", true),
        ] {
            assert_eq!(matches_glob(text, pattern), want, "{text} {pattern}");
        }
    }
}
