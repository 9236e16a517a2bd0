//! `wifi` and `cellular` in scenario files.
use crate::field::{Amount, Quantity};
use crate::trace_file::Refusal;
use alloc::format;
use core::fmt::Display;
use core::ops::{Range, RangeInclusive};
use fathom_link::{AggregateLimits, CellularParams, CellularRate, OutageParams, Trace, WifiParams};
use fathom_units::{Bytes, Duration, Rate, Ratio};
use serde::Deserialize;
use toml::Spanned;

const STATIONS: RangeInclusive<i64> = 0..=32;
const PACKETS: RangeInclusive<i64> = 1..=AggregateLimits::MAX_PACKETS as i64;
/// The maximum is the largest aggregate of VHT (802.11ac).
const AGGREGATE: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1_048_575);
/// The maximum is aPPDUMaxTime of HT (802.11n).
const AIRTIME: RangeInclusive<Duration> = Duration::from_micros(100)..=Duration::from_millis(10);
/// Lowest rate of 802.11.
const MIN_PHY: Rate = Rate::from_bits_per_second(1_000_000);
/// At lower rates a single packet would take longer than an outage.
const MIN_CELLULAR: Rate = Rate::from_bits_per_second(1_000);
/// With a higher error ratio hardly anything would get through.
const MAX_ERRORS: Ratio = Ratio(0.9);
const MIN_OUTAGE: Duration = Duration::from_millis(1);
const DEFAULT_TTI: Duration = Duration::from_millis(1);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WifiFile {
    phy: Spanned<Quantity<Rate>>,
    stations: Option<Spanned<i64>>,
    station_phy: Option<Spanned<Quantity<Rate>>>,
    error: Option<Spanned<Quantity<Ratio>>>,
    aggregate: Option<Spanned<i64>>,
    aggregate_bytes: Option<Spanned<Quantity<Amount>>>,
    aggregate_airtime: Option<Spanned<Quantity<Duration>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CellularFile {
    tti: Option<Spanned<Quantity<Duration>>>,
    grant: Option<Quantity<Duration>>,
    harq: Option<Spanned<Quantity<Ratio>>>,
    low: Option<Spanned<Quantity<Rate>>>,
    high: Option<Spanned<Quantity<Rate>>>,
    outage_every: Option<Spanned<Quantity<Duration>>>,
    outage: Option<Spanned<Quantity<Duration>>>,
}

impl WifiFile {
    pub(crate) fn params(&self) -> Result<WifiParams, Refusal> {
        let phy = phy("phy", &self.phy)?;
        let usual = AggregateLimits::DEFAULT;
        let bytes = self.aggregate_bytes.as_ref().map(|given| (given.span(), given.get_ref().0.0));
        let airtime = self.aggregate_airtime.as_ref().map(|given| (given.span(), given.get_ref().0));
        Ok(WifiParams {
            phy,
            stations: count("stations", &self.stations, STATIONS, 0)?,
            station_phy: self
                .station_phy
                .as_ref()
                .map_or(Ok(phy), |given| self::phy("station_phy", given))?,
            error: errors("error", &self.error)?,
            aggregate: AggregateLimits {
                packets: count("aggregate", &self.aggregate, PACKETS, usual.packets)?,
                bytes: within("aggregate_bytes", bytes, AGGREGATE, usual.bytes)?,
                airtime: within("aggregate_airtime", airtime, AIRTIME, usual.airtime)?,
            },
        })
    }
}

impl CellularFile {
    /// `span` is the position of the whole table; a trace overrides the rate.
    pub(crate) fn params(
        &self,
        span: Range<usize>,
        trace: Option<(Range<usize>, Trace)>,
    ) -> Result<CellularParams, Refusal> {
        let tti = self.tti.as_ref().map_or(DEFAULT_TTI, |given| given.get_ref().0);
        if ![1, 2, 10].contains(&(tti.as_nanos() / 1_000_000)) || !tti.as_nanos().is_multiple_of(1_000_000) {
            let span = self.tti.as_ref().map_or(span, Spanned::span);
            return refuse(
                span,
                format!("tti: invalid value {tti} (expected 1ms for LTE, 2ms or 10ms for UMTS)"),
            );
        }
        Ok(CellularParams {
            tti,
            grant: self.grant.as_ref().map_or(Duration::ZERO, |given| given.0),
            harq: errors("harq", &self.harq)?,
            rate: self.rate(span.clone(), trace)?,
            outages: self.outages(span)?,
        })
    }

    fn rate(
        &self,
        span: Range<usize>,
        trace: Option<(Range<usize>, Trace)>,
    ) -> Result<CellularRate, Refusal> {
        match (&self.low, &self.high, trace) {
            (Some(low), Some(high), None) => walk(low, high),
            (None, None, Some((_, Trace::Rates(trace)))) => Ok(CellularRate::Trace(trace)),
            (None, None, Some((name, Trace::Opportunities(_)))) => {
                let what = "trace: a trace already contains the timing (omit cellular)";
                refuse(name, what)
            }
            (low, high, Some(_)) => {
                let span = low.as_ref().or(high.as_ref()).map_or(span, Spanned::span);
                refuse(span, "low and high: the rate is already given by trace (leave them out)")
            }
            _ => refuse(span, "cellular: expected low and high, such as low = \"1mbit\", high = \"40mbit\""),
        }
    }

    fn outages(&self, span: Range<usize>) -> Result<Option<OutageParams>, Refusal> {
        let (every, length) = match (&self.outage_every, &self.outage) {
            (None, None) => return Ok(None),
            (Some(every), Some(length)) => (every, length),
            _ => {
                return refuse(
                    span,
                    "outage_every and outage require each other (for example \"60s\" and \"5s\")",
                );
            }
        };
        for (key, given) in [("outage_every", every), ("outage", length)] {
            let time = given.get_ref().0;
            if time < MIN_OUTAGE {
                return refuse(given.span(), refusal(key, time, MIN_OUTAGE, "1 hour"));
            }
        }
        Ok(Some(OutageParams { every: every.get_ref().0, length: length.get_ref().0 }))
    }
}

fn walk(low: &Spanned<Quantity<Rate>>, high: &Spanned<Quantity<Rate>>) -> Result<CellularRate, Refusal> {
    let (least, most) = (low.get_ref().0, high.get_ref().0);
    if least < MIN_CELLULAR {
        return refuse(low.span(), format!("low: invalid value {least} (expected at least {MIN_CELLULAR})"));
    }
    if least > most {
        return refuse(high.span(), format!("high: {most} is below low = {least}"));
    }
    Ok(CellularRate::Walk { low: least, high: most })
}

fn phy(key: &str, given: &Spanned<Quantity<Rate>>) -> Result<Rate, Refusal> {
    let rate = given.get_ref().0;
    if rate < MIN_PHY {
        return refuse(given.span(), refusal(key, rate, MIN_PHY, "1Tbit"));
    }
    Ok(rate)
}

fn errors(key: &str, given: &Option<Spanned<Quantity<Ratio>>>) -> Result<Ratio, Refusal> {
    let Some(given) = given else { return Ok(Ratio(0.0)) };
    let ratio = given.get_ref().0;
    if ratio > MAX_ERRORS {
        return refuse(given.span(), refusal(key, ratio, Ratio(0.0), MAX_ERRORS));
    }
    Ok(ratio)
}

fn count(
    key: &str,
    given: &Option<Spanned<i64>>,
    fits: RangeInclusive<i64>,
    usual: u8,
) -> Result<u8, Refusal> {
    let Some(given) = given else { return Ok(usual) };
    let number = *given.get_ref();
    match u8::try_from(number) {
        Ok(count) if fits.contains(&number) => Ok(count),
        _ => refuse(given.span(), refusal(key, number, fits.start(), fits.end())),
    }
}

fn within<T: PartialOrd + Display + Copy>(
    key: &str,
    given: Option<(Range<usize>, T)>,
    fits: RangeInclusive<T>,
    usual: T,
) -> Result<T, Refusal> {
    match given {
        None => Ok(usual),
        Some((_, value)) if fits.contains(&value) => Ok(value),
        Some((span, value)) => refuse(span, refusal(key, value, fits.start(), fits.end())),
    }
}

fn refusal(key: &str, seen: impl Display, least: impl Display, most: impl Display) -> alloc::string::String {
    format!("{key}: invalid value {seen} (expected {least} to {most})")
}

fn refuse<T>(span: Range<usize>, what: impl alloc::string::ToString) -> Result<T, Refusal> {
    Err(Refusal::Here(span, what.to_string()))
}
