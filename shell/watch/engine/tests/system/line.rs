//! Effects of a bad link on replies.
use crate::far;
use crate::memory::{answered, row, start, tally, wait_for};
use fathom_watch_samples::Outcome;
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Impairments by the last octet of the probed address.
fn manner(last_octet: u8, n: u32) -> Vec<Duration> {
    match last_octet {
        2 => vec![MS(30)],
        // Far beyond the timeout.
        3 => vec![MS(1_500)],
        4 => vec![],
        5 => vec![MS(5), MS(6)],
        // Every other reply is overtaken by the next one.
        6 => vec![MS(if n.is_multiple_of(2) { 150 } else { 5 })],
        _ => vec![MS(1)],
    }
}

#[test]
fn late_lost_duplicate_and_reordered_replies() {
    far::with(manner, || {
        let mut text =
            String::from("[watch]\ninterface = 'none'\n[defaults]\ninterval = '100ms'\ntimeout = '500ms'\n");
        for last in 2..=6 {
            text += &format!("[[target]]\nname = 'four{last}'\nhost = '10.77.0.{last}'\n");
            text += &format!("[[target]]\nname = 'six{last}'\nhost = 'fd77::{last}'\n");
        }
        let (monitor, memory) = start(&text);
        for family in ["four", "six"] {
            let name = |last: u8| format!("{family}{last}");
            wait_for("answers", || (answered(&memory.samples(&name(2), "icmp")) >= 10).then_some(()));
            wait_for("late ones", || memory.of(&name(3), "icmp").filter(|s| s.amended.len() >= 10));
            wait_for("losses", || (tally(&memory.samples(&name(4), "icmp")).lost >= 10).then_some(()));
            wait_for("duplicates", || memory.of(&name(5), "icmp").filter(|s| s.duplicates >= 10));
            wait_for("overtaken ones", || memory.of(&name(6), "icmp").filter(|s| s.reordered >= 10));
        }
        let since = row(&monitor, "four4", "icmp").unwrap().failing_since.unwrap();
        assert_eq!(since.1, "no answer");
        assert!(row(&monitor, "four3", "icmp").unwrap().tally.late >= 5);
        assert!(monitor.stop().is_empty());
        for family in ["four", "six"] {
            check(&memory, family);
        }
    });
}

fn check(memory: &crate::memory::Memory, family: &str) {
    let of = |last: u8| memory.of(&format!("{family}{last}"), "icmp").unwrap();
    let steady = tally(&of(2).samples);
    assert_eq!((steady.lost, steady.late, steady.failed), (0, 0, 0), "{family}: {steady:?}");
    let late = of(3);
    for amended in &late.amended {
        assert!(
            matches!(amended.outcome, Outcome::Late(d) if d.as_secs_f64() >= 1.5),
            "{family}: {amended:?}"
        );
        let before = late.samples.iter().find(|s| s.at == amended.at).unwrap();
        assert_eq!(before.outcome, Outcome::Lost, "{family}");
    }
    assert_eq!(answered(&late.samples) + answered(&of(4).samples), 0, "{family}");
    let twice = of(5);
    assert!(
        twice.duplicates as usize >= answered(&twice.samples) - 2,
        "{family}: each but the last came twice"
    );
    assert_eq!((of(2).duplicates, of(2).reordered, twice.reordered), (0, 0, 0), "{family}");
}
