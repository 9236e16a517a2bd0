//! Property of arbitrary bytes as `scenario`; the fuzz target of that name runs the same function.
use fathom_units::Duration;

/// A scenario file is accepted within limits, or rejected with one line that names the file.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match fathom_scenario::parse(text, "fuzz.toml") {
        Ok(plan) => {
            assert!((1..=fathom_scenario::MAX_HOPS).contains(&plan.line.hops.len()));
            let sides = plan.line.hops.iter().flat_map(|hop| [&hop.up, &hop.down]);
            for side in sides {
                assert!(side.nominal_rate().is_none_or(|rate| rate.as_bits_per_second() > 0));
                assert!(side.delay <= Duration::from_secs(3600));
            }
        }
        Err(error) => {
            assert!(error.line >= 1 && error.line <= text.lines().count() + 1, "{error}");
            assert!(error.to_string().starts_with("fuzz.toml:"));
        }
    }
}
