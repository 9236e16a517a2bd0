//! A history of a later version of this program.
use super::support::{Dir, SECOND, START, all, kept, key, open, sample, seldom};
use fathom_units::WallTime;
use fathom_watch_store::{History, HistoryError, HistoryReader};
use rusqlite::Connection;
use std::fs;

#[test]
fn a_later_version_is_refused_by_its_number_and_left_as_it_is() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &seldom());
    let id = history.series(&key("one")).unwrap();
    let recorded = [sample(0, WallTime(START))];
    history.record(id, &recorded);
    history.save(WallTime(START + SECOND));
    drop(history);
    let file = dir.0.join("history.db");
    let set_version = |version: i64| {
        Connection::open(&file).unwrap().pragma_update(None, "user_version", version).unwrap();
    };
    set_version(2);
    let before = fs::read(&file).unwrap();
    for refused in [History::open(&dir.0, &seldom()).map(drop), HistoryReader::open(&dir.0).map(drop)] {
        let error = refused.unwrap_err();
        assert!(matches!(error, HistoryError::Newer { version: 2, known: 1, .. }), "{error}");
    }
    assert!(fs::read(&file).unwrap() == before, "the file was changed");
    set_version(1);
    assert_eq!(all(&dir.0, id), kept(&recorded));
}
