//! Properties that hold for any bytes given as a database: no panic, and an accepted database has
//! all its rows.
use fathom_watch_import::rrd::read;

pub(crate) fn check(bytes: &[u8]) {
    let rrd = match read(bytes) {
        Ok(rrd) => rrd,
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            return;
        }
    };
    for archive in &rrd.archives {
        let mut last = None;
        for row in rrd.rows(archive).take(1_000) {
            assert_eq!(row.values.len(), rrd.sources.len());
            assert!(last.is_none_or(|end_s| end_s < row.end_s), "{last:?} {}", row.end_s);
            last = Some(row.end_s);
        }
    }
}
