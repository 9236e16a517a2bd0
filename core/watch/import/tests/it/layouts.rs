//! Databases of other machines.
use super::encode::{Made, any, encode};
use fathom_units::Rng;
use fathom_watch_import::rrd::{Layout, RrdError, read};

fn same(made: &Made, bytes: &[u8]) {
    let rrd = read(bytes).expect("the encoder wrote it");
    assert_eq!((rrd.version, rrd.layout), (made.version, made.layout));
    assert_eq!((rrd.step_s, rrd.updated_s), (made.step_s, made.updated_s));
    assert_eq!(rrd.sources.iter().map(|s| s.name.clone()).collect::<Vec<_>>(), made.sources);
    for (archive, wanted) in rrd.archives.iter().zip(&made.archives) {
        assert_eq!((archive.function.as_str(), archive.steps), (wanted.function, wanted.steps));
        assert_eq!(archive.unknown_ratio, 0.5);
        let width_s = made.step_s * wanted.steps;
        let newest_s = made.updated_s / width_s * width_s;
        let rows: Vec<_> = rrd.rows(archive).collect();
        assert_eq!(rows.len(), wanted.rows.len());
        for (age, (row, values)) in rows.iter().rev().zip(wanted.rows.iter().rev()).enumerate() {
            assert_eq!(row.end_s, newest_s - age as u64 * width_s);
            let bits = |v: &[f64]| v.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&row.values), bits(values));
        }
    }
}

#[test]
fn every_machine_and_version() {
    for seed in 0..50 {
        for layout in Layout::ALL {
            for version in [1, 3, 4, 5] {
                let made = any(&mut Rng::new(seed), layout, version);
                let bytes = encode(&made);
                // Two machines with equal sizes write the same bytes.
                let found =
                    read(&bytes).unwrap_or_else(|e| panic!("seed {seed}, {layout}, version {version}: {e}"));
                same(&Made { layout: found.layout, ..made }, &bytes);
            }
        }
    }
}

/// With as many sources and archives as in SmokePing, each machine is distinguished from all
/// others.
#[test]
fn the_machine_is_recognized() {
    for layout in Layout::ALL {
        for version in [3, 4] {
            let mut rng = Rng::new(7);
            let bytes = encode(&any(&mut rng, layout, version));
            assert_eq!(read(&bytes).unwrap().layout, layout);
        }
    }
}

#[test]
fn cut_short_anywhere() {
    for layout in Layout::ALL {
        let bytes = encode(&any(&mut Rng::new(3), layout, 3));
        for len in (0..bytes.len()).step_by(3) {
            assert!(read(&bytes[..len]).is_err(), "{layout}: {len} of {}", bytes.len());
        }
        assert!(read(&[bytes.as_slice(), &[0]].concat()).is_err());
    }
}

#[test]
fn refusals_name_what_was_found() {
    let good = encode(&any(&mut Rng::new(3), Layout::ALL[0], 3));
    let with = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        read(&bad).unwrap_err().to_string()
    };
    let mut swapped = 8.642135e130_f64.to_le_bytes();
    swapped.rotate_left(4);
    for (text, wanted) in [
        (with(0, b"SQL"), "is not a round-robin database"),
        (
            with(4, b"0002"),
            "has version 0002, but this program supports 0001, 0003, 0004 and 0005: convert it with `rrdtool dump`",
        ),
        (with(16, &[0; 8]), "an unknown layout, or is damaged: convert it with `rrdtool dump`"),
        (with(16, &swapped), "doubles of ARM's old FPA"),
    ] {
        assert!(text.contains(wanted), "{text}");
    }
    let short = read(&good[..good.len() - 8]).unwrap_err().to_string();
    let wanted = format!("has {} bytes, expected {} for 64-bit little-endian", good.len() - 8, good.len());
    assert!(short.starts_with(&wanted), "{short}");
    assert!(matches!(read(b"RRD\0"), Err(RrdError::Version(_))));
}
