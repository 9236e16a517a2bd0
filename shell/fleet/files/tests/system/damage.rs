//! Tables that a site damaged: an error at most, and the others still count.
use crate::lines::{archive, encoded, lines};
use crate::{check, days};
use fathom_fleet_files::{Answers, Archive};
use fathom_fleet_query::Source;
use fathom_fleet_view::Selector;
use fathom_units::Rng;
use std::fs;
use std::path::PathBuf;

fn table(top: &std::path::Path, site: &str, day: &str, hour: &str) -> PathBuf {
    top.join(format!("archive/windows/site={}/date={day}/{hour}.parquet", encoded(site)))
}

#[test]
fn damaged_files_are_named_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(19, 2);
    archive(folder.path(), &all);
    let path = |hour: &str| table(folder.path(), &all[0].name, "2026-01-05", hour);
    fs::write(path("00"), b"").unwrap();
    fs::write(path("01"), b"PAR1 no table PAR1").unwrap();
    let whole = fs::read(path("02")).unwrap();
    fs::write(path("02"), &whole[..whole.len() / 2]).unwrap();
    // Other names are no tables.
    fs::write(path("24"), b"x").unwrap();
    fs::write(path("xx"), b"x").unwrap();
    fs::write(path("03").with_extension("txt"), b"x").unwrap();
    let source = Answers(Archive::open(&folder.path().join("archive")).unwrap());
    let fleet = source.fleet(&Selector::all(), days(0, 3)).unwrap();
    check(&fleet, &all[1..], (0, 3));
    assert!(fleet.site(&all[0].name).unwrap().tests >= 11, "one hour may have had a test");
    let named = source.0.damaged();
    assert!(named.len() == 3 && named[0].contains("00.parquet: "), "{named:?}");
    assert!(source.0.damaged().is_empty(), "each is reported once");
}

/// Each changed byte makes an answer or an error, never a panic.
#[test]
fn changed_bytes_make_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(23, 1);
    archive(folder.path(), &all);
    let path = table(folder.path(), &all[0].name, "2026-01-05", "20");
    let whole = fs::read(&path).unwrap();
    let source = Answers(Archive::open(&folder.path().join("archive")).unwrap());
    let mut rng = Rng::new(29);
    // Panics inside of the reader are caught; their messages would fill the screen.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcomes: Vec<bool> = (0..400)
        .map(|_| {
            let mut changed = whole.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(changed.len() as u64) as usize;
                changed[at] = rng.below(256) as u8;
            }
            if rng.chance(0.2) {
                changed.truncate(rng.below(changed.len() as u64) as usize);
            }
            fs::write(&path, &changed).unwrap();
            source.tests(&all[0].name, days(0, 1)).is_ok()
        })
        .collect();
    std::panic::set_hook(hook);
    assert!(outcomes.iter().all(|is_answer| *is_answer), "a damaged table never hides the others");
    let named = source.0.damaged();
    assert!(named.len() > 3, "{named:?}");
}
