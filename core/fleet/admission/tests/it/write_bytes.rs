//! Properties that hold for any bytes of a remote-write request.
use fathom_fleet_admission::{DecodeError, Labels, Limits, SiteName, Usage, Version, admit, walk};

/// The first byte chooses the version.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let version = if first % 2 == 0 { Version::V1 } else { Version::V2 };
    let (mut series, mut cost, mut last) = (0, 0, 0);
    let walked = walk::<DecodeError>(version, body, |one| {
        series += 1;
        cost += one.points.cost;
        assert!(one.labels.windows(2).all(|pair| pair[0].0 < pair[1].0), "{one}");
        assert!(one.labels.iter().all(|(name, value)| !name.is_empty() && !value.is_empty()), "{one}");
        assert!(one.points.cost >= one.points.samples + one.points.histograms && one.points.cost > 0);
        assert!(one.shown().chars().count() <= 200 && !one.shown().chars().any(char::is_control));
        last = last.max(one.points.range_ms.map_or(0, |(_, end)| end));
        Ok(())
    });
    match walked {
        Ok(totals) => {
            assert_eq!((totals.series, totals.points.cost), (series, cost));
            assert_eq!(totals.points.range_ms.map_or(0, |(_, end)| end), last);
        }
        Err(error) => assert!(error.series == series || error.series == series + 1 || error.series == 0),
    }
    let site = SiteName::parse("berlin").expect("a valid name");
    let labels = Labels::parse([("plan", "b")]).expect("valid labels");
    let limits = Limits { series: 3, ..Limits::default() };
    let mut usage = Usage::new(&limits, 1_700_000_000_000);
    let admitted = admit(version, body, (&site, &labels), (&mut usage, &limits), &[7; 16], 1_700_000_000_000);
    assert!(usage.active() <= 3);
    if let Ok(admitted) = admitted {
        assert_eq!(admitted.totals.series, series);
        assert!(last <= 1_700_000_600_000);
    }
}
