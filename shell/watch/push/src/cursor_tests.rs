//! Valid and damaged cursor files.
use super::*;

fn cursor() -> Cursor {
    let mut counted = Counted { since_ms: 5, host: "192.0.2.1".into(), ..Counted::default() };
    counted.total.tally =
        Tally { sent: 9, answered: 1, late: 2, lost: 6, failed: 4, duplicates: 5, reordered: 3 };
    counted.total.sketch.add_value(0.0);
    counted.total.sketch.add_value(0.020);
    counted.total.sketch.add_times(-1_000, 1 << 60);
    let series = [(("a\"b".to_owned(), "tcp:443".to_owned()), counted)];
    Cursor { upto_ms: 1_700_000_000_000, series: series.into_iter().collect() }
}

#[test]
fn a_saved_cursor_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let path = Cursor::path(dir, "far");
    assert!(matches!(Cursor::load(&path), Loaded::None));
    for _ in 0..2 {
        cursor().save(&path).unwrap();
        let Loaded::Cursor(loaded) = Cursor::load(&path) else { panic!("not loaded") };
        assert_eq!(loaded, cursor());
    }
    assert_eq!(fs::read_dir(dir).unwrap().count(), 1, "no other file is left");
}

#[test]
fn any_damage_is_found_and_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let path = Cursor::path(dir, "far");
    cursor().save(&path).unwrap();
    let good = fs::read(&path).unwrap();
    for cut in 0..good.len() {
        fs::write(&path, good.get(..cut).unwrap()).unwrap();
        let Loaded::Damaged { kept, .. } = Cursor::load(&path) else { panic!("cut at {cut}") };
        let kept = kept.unwrap();
        assert_eq!(fs::read(&kept).unwrap().len(), cut);
        assert!(!path.exists());
        fs::remove_file(kept).unwrap();
    }
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        fs::write(&path, &bad).unwrap();
        match Cursor::load(&path) {
            Loaded::Damaged { kept, .. } => fs::remove_file(kept.unwrap()).unwrap(),
            // The gzip header contains a time, a name and other fields that do not matter.
            Loaded::Cursor(loaded) => assert_eq!((loaded, place < 10), (cursor(), true), "byte {place}"),
            Loaded::None => panic!("byte {place}"),
        }
    }
}
