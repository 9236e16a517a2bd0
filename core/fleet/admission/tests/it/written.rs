//! The decoder next to `prost`.
use crate::messages::{Plain, Request1, Series1, plain, random, read1, read2, version1, version2};
use crate::write_bytes;
use fathom_fleet_admission::{DecodeError, Totals, Version, Why, walk};
use fathom_units::Rng;
use prost::Message;
use std::path::Path;

/// Labels, numbers of points and times of each series.
type Seen = (Vec<(String, String)>, u64, u64, Option<(u64, u64)>);

fn ours(version: Version, body: &[u8]) -> Result<(Vec<Seen>, Totals), DecodeError> {
    let mut all = Vec::new();
    let totals = walk::<DecodeError>(version, body, |series| {
        let labels = series.labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let points = series.points;
        all.push((labels, points.samples, points.histograms, points.range_ms));
        Ok(())
    })?;
    Ok((all, totals))
}

fn expected(all: &[Plain]) -> Vec<Seen> {
    let one = |series: &Plain| {
        let of_samples = series.samples.iter().flat_map(|one| [one.timestamp, one.start_timestamp]);
        let of_histograms = series.histograms.iter().flat_map(|one| [one.timestamp, one.start_timestamp]);
        let times: Vec<u64> =
            of_samples.chain(of_histograms).map(|at| at as u64).filter(|at| *at > 0).collect();
        let range = times.iter().min().copied().zip(times.iter().max().copied());
        (series.labels.clone(), series.samples.len() as u64, series.histograms.len() as u64, range)
    };
    all.iter().map(one).collect()
}

#[test]
fn valid_requests_are_read_as_they_were_written() {
    for seed in 0..500 {
        let mut rng = Rng::new(seed);
        let all: Vec<Plain> = (0..rng.below(6)).map(|_| random(&mut rng)).collect();
        let (seen, totals) =
            ours(Version::V2, &version2(&all)).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(seen, expected(&all), "seed {seed}");
        assert_eq!(totals.series, all.len() as u64);
        let body = version1(&all);
        let (of_first, _) = ours(Version::V1, &body).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(of_first, expected(&read1(&body).unwrap()), "seed {seed}");
    }
}

#[test]
fn what_is_accepted_of_changed_requests_is_what_prost_reads() {
    let mut accepted = 0;
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let all: Vec<Plain> = (0..1 + rng.below(3)).map(|_| random(&mut rng)).collect();
        let is_second = rng.chance(0.5);
        let mut body = if is_second { version2(&all) } else { version1(&all) };
        for _ in 0..1 + rng.below(3) {
            body.resize(body.len().max(1), 0);
            let at = rng.below(body.len() as u64) as usize;
            match rng.below(4) {
                0 => body[at] = rng.below(256) as u8,
                1 => body[at] ^= 1 << rng.below(8),
                2 => drop(body.remove(at)),
                _ => body.truncate(at.max(1)),
            }
        }
        let version = if is_second { Version::V2 } else { Version::V1 };
        if let Ok((seen, _)) = ours(version, &body) {
            accepted += 1;
            let read = if is_second { read2(&body) } else { read1(&body) };
            let read = read.unwrap_or_else(|| panic!("seed {seed}: prost refuses what we accept"));
            assert_eq!(seen, expected(&read), "seed {seed}");
        }
        body.insert(0, u8::from(is_second));
        write_bytes::check(&body);
    }
    assert!(accepted > 1_000, "{accepted} of the changed requests were accepted");
}

fn why(version: Version, body: &[u8]) -> (u64, Why) {
    let error = ours(version, body).expect_err("refused");
    (error.series, error.why)
}

#[test]
fn each_fault_has_its_error() {
    let name = ("__name__", "fathom_a");
    let good = plain(&[name, ("site", "x")], 1);
    let with = |change: &dyn Fn(&mut Plain)| {
        let mut one = good.clone();
        change(&mut one);
        [good.clone(), one]
    };
    let both = |change: &dyn Fn(&mut Plain)| {
        let all = with(change);
        let found = why(Version::V1, &version1(&all));
        assert_eq!(found, why(Version::V2, &version2(&all)));
        assert_eq!(found.0, 2);
        found.1
    };
    assert_eq!(both(&|one| one.labels.reverse()), Why::Unsorted);
    assert_eq!(both(&|one| one.labels.push(("site".into(), "y".into()))), Why::Duplicate);
    assert_eq!(both(&|one| one.labels[1].1.clear()), Why::Label);
    assert_eq!(both(&|one| one.labels[1].0.clear()), Why::Unsorted);
    assert_eq!(both(&|one| one.labels[1].0 = "a-b".into()), Why::Label);
    assert_eq!(both(&|one| one.labels[1].1 = "x".repeat(1_025)), Why::Label);
    assert_eq!(both(&|one| one.samples.clear()), Why::Time);
    assert_eq!(both(&|one| one.samples[0].timestamp = 0), Why::Time);
    assert_eq!(both(&|one| one.samples[0].timestamp = -1), Why::Time);
    let many = |one: &mut Plain| one.labels.extend((0..40).map(|at| (format!("t{at:02}"), "x".into())));
    assert_eq!(both(&many), Why::Labels);
    let mut histogram = random(&mut Rng::new(3));
    while histogram.histograms.is_empty() {
        histogram = random(&mut Rng::new(histogram.samples[0].timestamp as u64));
    }
    histogram.histograms[0].positive_spans[0].length = u32::MAX;
    assert_eq!(both(&|one| one.histograms.clone_from(&histogram.histograms)), Why::Histogram);

    let sample = good.samples[0];
    let exemplars = Series1 { exemplars: vec![sample], ..Series1::default() };
    let request = Request1 { timeseries: vec![exemplars] }.encode_to_vec();
    assert_eq!(why(Version::V1, &request), (1, Why::Exemplar));
    assert_eq!(why(Version::V1, b"\x0a\xff\xff\xff\xff\x0f"), (0, Why::Truncated));
    assert_eq!(why(Version::V1, b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"), (0, Why::Field));
    assert_eq!(why(Version::V1, b"\x0a\x04\x0a\x02\x0a\x09"), (1, Why::Truncated));
    assert_eq!(why(Version::V1, b"\x0a\x05\x0a\x03\x0a\x01\xff"), (1, Why::Utf8));
    assert_eq!(why(Version::V1, b"\x1a\x00"), (0, Why::Field));
    assert_eq!(why(Version::V2, b"\x22\x01a"), (0, Why::Symbols));
    assert_eq!(why(Version::V2, b"\x22\x00\x2a\x04\x0a\x02\x00\x07"), (1, Why::Symbol));
    assert_eq!(why(Version::V2, b"\x22\x00\x2a\x03\x0a\x01\x00"), (1, Why::Truncated));
}

#[test]
fn the_corpus_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/remote_write");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        write_bytes::check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 8, "{count} files in {}", folder.display());
}
