//! The screens of `fathom watch status` and `fathom watch diagnose`.
use crate::golden::{ASCII, UNICODE, assert_fits, golden};
use crate::recent::{ORIGIN, patterns, recents};
use fathom_report::{Detail, Patterns, RecentStatus, Style, patterns_screen, recent_screen};

/// Rows of a terminal without the prompt.
const ROWS: usize = 23;
const VERBOSE: Style = Style { detail: Detail::Verbose, ..UNICODE };
const QUIET: Style = Style { detail: Detail::Quiet, ..UNICODE };

#[test]
fn the_last_minute() {
    let exports = ["prometheus: sent until 2026-11-24T12:00:00Z, 3s behind".to_string()];
    let (mut wide, mut narrow) = (String::new(), String::new());
    for (name, series) in recents() {
        let status = RecentStatus {
            tests: &[],
            series: &series,
            history_end: Some("2026-11-24T12:00:00Z"),
            exports: if name == "several targets" { &exports } else { &[] },
            origin: ORIGIN,
        };
        let screen = recent_screen(&status, 80, UNICODE);
        assert_fits(&screen, 80);
        assert!(screen.lines().count() <= ROWS, "{name}:\n{screen}");
        wide += &format!("## {name}\n{screen}\n");
        let small = recent_screen(&status, 40, ASCII);
        assert_fits(&small, 40);
        assert!(small.is_ascii() && small.lines().count() <= ROWS, "{name}:\n{small}");
        narrow += &format!("## {name}\n{small}\n");
        let all = recent_screen(&status, 100, VERBOSE);
        assert!(series.iter().all(|one| all.contains(&one.target)), "{all}");
        assert!(screen.starts_with(&recent_screen(&status, 80, QUIET)));
    }
    golden("watch-status.txt", &wide);
    golden("watch-status-narrow.txt", &narrow);
}

#[test]
fn patterns_of_months() {
    let mut text = String::new();
    for (name, found, days) in patterns() {
        let seen = vec![vec!["2026-11-23T19:00:00Z to 2026-11-23T23:00:00Z".to_string()]; found.len()];
        let shown = Patterns { found: &found, days, seen: &seen, origin: ORIGIN };
        let screen = patterns_screen(&shown, 80, UNICODE);
        assert_fits(&screen, 80);
        assert!(screen.lines().count() <= ROWS, "{name}:\n{screen}");
        assert!(screen.starts_with(&patterns_screen(&shown, 80, QUIET)));
        text += &format!("## {name}\n{screen}\n");
        assert_fits(&patterns_screen(&shown, 40, ASCII), 40);
        if name == "own load" {
            text += &format!("## {name}, -v\n{}\n", patterns_screen(&shown, 80, VERBOSE));
        }
    }
    golden("watch-diagnose.txt", &text);
}
