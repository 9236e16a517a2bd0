//! Valid and damaged cursor files.
use super::*;

fn cursor() -> Cursor {
    let sent = SentResult { bytes: 7, modified_ms: 8, date: "2026-01-05".into() };
    let mut cursor = Cursor {
        to: "/mnt/far berlin".into(),
        results: [("a \"b\".json.gz".to_owned(), sent)].into(),
        again: [Hour(3), Hour(489_000)].into(),
        site: "{}".into(),
        objects: 3,
        refused: 1,
        ..Cursor::default()
    };
    cursor.sent(Hour(490_000), [7, 4, 2, 1, 3, 0, 0], Hour(490_001));
    cursor
}

#[test]
fn a_saved_cursor_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = Cursor::path(folder.path(), "far");
    assert!(matches!(Cursor::load(&path), Loaded::None));
    for _ in 0..2 {
        cursor().save(&path).unwrap();
        let Loaded::Cursor(loaded) = Cursor::load(&path) else { panic!("not loaded") };
        assert_eq!(loaded, cursor());
    }
    assert_eq!(name_of(&path).as_deref(), Some("far"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
}

#[test]
fn a_damaged_cursor_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = Cursor::path(folder.path(), "far");
    cursor().save(&path).unwrap();
    let good = fs::read(&path).unwrap();
    for cut in 0..good.len() {
        fs::write(&path, &good[..cut]).unwrap();
        let Loaded::Damaged { kept, .. } = Cursor::load(&path) else { panic!("cut at {cut}") };
        assert!(!path.exists());
        fs::remove_file(kept.unwrap()).unwrap();
    }
    fs::write(&path, String::from_utf8(good).unwrap().replace("archive\":1", "archive\":2")).unwrap();
    let Loaded::Damaged { why, .. } = Cursor::load(&path) else { panic!("a later version") };
    assert_eq!(why, "unsupported version 2");
}

#[test]
fn counts_of_two_days_are_kept() {
    let mut cursor = Cursor::default();
    let kept = |of: &Cursor| of.recent.keys().map(|hour| hour.0).collect::<Vec<_>>();
    (1_000..1_100).for_each(|hour| cursor.sent(Hour(hour), [1; 7], Hour(hour + 1)));
    assert_eq!((cursor.upto, kept(&cursor)), (Hour(1_100), (1_052..1_100).collect()));
    // Earlier hours that were sent again.
    cursor.again = [Hour(1_060), Hour(1_061)].into();
    cursor.sent(Hour(1_060), [2; 7], Hour(1_100));
    cursor.sent(Hour(1_061), [0; 7], Hour(1_100));
    assert_eq!((cursor.upto, cursor.recent.len(), cursor.recent[&Hour(1_060)]), (Hour(1_100), 47, [2; 7]));
    assert!(cursor.again.is_empty());
    // While the clock is behind, those before its time are needed, too.
    cursor.sent(Hour(700), [3; 7], Hour(701));
    assert!(kept(&cursor).starts_with(&[700, 1_052]));
    cursor.sent(Hour(1_100), [3; 7], Hour(1_101));
    assert_eq!(kept(&cursor)[0], 1_053);
}
