//! Each configuration for four lines. `UPDATE_GOLDEN=1` rewrites the files.
use crate::line;
use fathom_shape::Framing;
use fathom_shaper_export::{Line, Platform, QueueKind, export};
use fathom_units::Duration;
use std::path::PathBuf;

pub(crate) fn lines(platform: Platform) -> [(&'static str, Line); 4] {
    let adsl = Framing { overhead: Some(44), mpu: 0, atm: true };
    let ethernet = Framing { overhead: Some(38), mpu: 84, atm: false };
    let far = Some(Duration::from_millis(900));
    [
        ("a usual line", line(platform, 9_500_000, 47_000_000)),
        ("ADSL, in ATM cells", Line { framing: adsl, ..line(platform, 900_000, 14_500_000) }),
        ("a fast line", Line { framing: ethernet, ..line(platform, 2_500_000_000, 2_500_000_000) }),
        ("a slow line over a satellite", Line { round_trip: far, ..line(platform, 400_000, 400_000) }),
    ]
}

#[track_caller]
fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/shaper-export").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/shaper-export can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

#[test]
fn configurations() {
    for platform in Platform::ALL {
        let mut text = String::new();
        for (name, line) in lines(platform) {
            let export = export(platform, &line).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            text += &format!("==== {name} ====\n{}", export.text);
        }
        golden(&format!("{platform}.txt"), &text);
    }
}

/// Two platforms have a second queue.
#[test]
fn configurations_with_fq_codel() {
    for platform in [Platform::OpenwrtSqm, Platform::Mikrotik] {
        let mut text = String::new();
        for (name, line) in lines(platform) {
            let line = Line { queue: Some(QueueKind::FqCodel), ..line };
            text += &format!("==== {name} ====\n{}", export(platform, &line).expect("it has fq_codel").text);
        }
        golden(&format!("{platform}-fq_codel.txt"), &text);
    }
}

/// The reader of a configuration finds what it is, what it cannot do, and how to go on.
#[test]
fn comments_have_each_part() {
    for platform in Platform::ALL {
        let text = export(platform, &line(platform, 9_500_000, 47_000_000)).expect("a usual line").text;
        for part in ["Units: ", "Overhead: ", "Limit: ", "Apply: ", "Undo: ", "Verify: ", "`fathom test`"] {
            assert!(text.contains(part), "{platform} lacks {part:?}:\n{text}");
        }
        let is_printable = |c: char| c == '\n' || c == '\t' || (' '..='~').contains(&c);
        assert!(text.chars().all(is_printable), "{platform}:\n{text}");
        assert!(text.ends_with('\n') && !text.contains("\n\n\n"), "{platform}:\n{text}");
    }
}
