//! One direction of a hop in scenario files: its link and impairments.
use crate::field::{Amount, Quantity};
use crate::radio_file::{CellularFile, WifiFile};
use crate::trace_file::{Files, Refusal, trace};
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;
use fathom_link::{BoostParams, BottleneckParams, BurstParams, ImpairmentParams, TransmitterParams};
use fathom_qdisc::{DropFrom, FifoParams, Limit, Spec};
use fathom_units::{Bytes, Duration, Rate, Ratio};
use serde::Deserialize;
use toml::Spanned;

/// Default when a side specifies no queue: Linux's `txqueuelen` for Ethernet.
const DEFAULT_QUEUE: Spec = Spec::Fifo(FifoParams { limit: Limit::Packets(1000), drop_from: DropFrom::Tail });
/// Ethernet header without checksum, which Linux and `tc` count as part of the packet length.
const DEFAULT_OVERHEAD: Bytes = Bytes(14);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Side {
    rate: Option<Spanned<Quantity<Rate>>>,
    boost: Option<Spanned<BoostFile>>,
    trace: Option<Spanned<String>>,
    wifi: Option<Spanned<WifiFile>>,
    cellular: Option<Spanned<CellularFile>>,
    delay: Quantity<Duration>,
    queue: Option<Quantity<Spec>>,
    overhead: Option<Quantity<Bytes>>,
    loss: Option<Quantity<Ratio>>,
    loss_burst: Option<Spanned<BurstFile>>,
    duplicate: Option<Quantity<Ratio>>,
    reorder: Option<Quantity<Ratio>>,
    reorder_delay: Option<Quantity<Duration>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoostFile {
    rate: Quantity<Rate>,
    bucket: Quantity<Amount>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BurstFile {
    enter: Spanned<Quantity<Ratio>>,
    leave: Spanned<Quantity<Ratio>>,
    loss: Option<Quantity<Ratio>>,
}

fn refuse<T>(span: Range<usize>, what: impl ToString) -> Result<T, Refusal> {
    Err(Refusal::Here(span, what.to_string()))
}

/// Converts and validates one direction.
pub(crate) fn side(side: Spanned<Side>, files: Files<'_>) -> Result<BottleneckParams, Refusal> {
    let (span, side) = (side.span(), side.into_inner());
    Ok(BottleneckParams {
        transmitter: side.transmitter(files)?,
        impairment: side.impairment(span)?,
        delay: side.delay.0,
        queue: side.queue.map_or(DEFAULT_QUEUE, |given| given.0),
        overhead: side.overhead.map_or(DEFAULT_OVERHEAD, |given| given.0),
    })
}

impl Side {
    fn transmitter(&self, files: Files<'_>) -> Result<TransmitterParams, Refusal> {
        self.check_kind()?;
        if let (Some(boost), None) = (&self.boost, &self.rate) {
            return refuse(boost.span(), "boost: rate is missing (for example rate = \"20mbit\")");
        }
        if let Some(wifi) = &self.wifi {
            return wifi.get_ref().params().map(TransmitterParams::Wifi);
        }
        let trace = self.trace.as_ref().map(|name| trace(name, files).map(|trace| (name.span(), trace)));
        let trace = trace.transpose()?;
        match (&self.cellular, trace) {
            (Some(cellular), trace) => {
                let params = cellular.get_ref().params(cellular.span(), trace)?;
                Ok(TransmitterParams::Cellular(params))
            }
            (None, Some((_, trace))) => Ok(TransmitterParams::Trace(trace)),
            (None, None) => self.fixed(),
        }
    }

    /// Rejects combinations of keys that specify the rate twice.
    fn check_kind(&self) -> Result<(), Refusal> {
        let given = [
            ("rate", self.rate.as_ref().map(Spanned::span)),
            ("trace", self.trace.as_ref().map(Spanned::span)),
            ("wifi", self.wifi.as_ref().map(Spanned::span)),
            ("cellular", self.cellular.as_ref().map(Spanned::span)),
        ];
        let mut given = given.into_iter().filter_map(|(key, span)| Some((key, span?)));
        let (Some((first, _)), Some((second, span))) = (given.next(), given.next()) else { return Ok(()) };
        if (first, second) == ("trace", "cellular") && given.next().is_none() {
            return Ok(());
        }
        let hint = "leave one of them out; only cellular can be combined with trace";
        refuse(span, format!("{second}: the rate is already given by {first} ({hint})"))
    }

    fn fixed(&self) -> Result<TransmitterParams, Refusal> {
        let rate = self.rate.as_ref().map(|given| given.get_ref().0);
        let (Some(boost), Some(sustained)) = (&self.boost, rate) else {
            return Ok(TransmitterParams::Fixed(rate));
        };
        let (span, peak) = (boost.span(), boost.get_ref().rate.0);
        if peak <= sustained {
            return refuse(
                span,
                format!("boost: rate = {peak} is not above the rate {sustained} of the link"),
            );
        }
        let bucket = boost.get_ref().bucket.0.0;
        Ok(TransmitterParams::Boost(BoostParams { sustained, peak, bucket }))
    }

    fn impairment(&self, span: Range<usize>) -> Result<ImpairmentParams, Refusal> {
        let ratio = |given: &Option<Quantity<Ratio>>| given.as_ref().map_or(Ratio(0.0), |given| given.0);
        let impairment = ImpairmentParams {
            loss: ratio(&self.loss),
            burst: self.loss_burst.as_ref().map(|burst| burst.get_ref().params()).transpose()?,
            duplicate: ratio(&self.duplicate),
            reorder: ratio(&self.reorder),
            reorder_delay: self.reorder_delay.as_ref().map_or(Duration::ZERO, |given| given.0),
        };
        if (impairment.reorder.0 > 0.0) != (impairment.reorder_delay > Duration::ZERO) {
            return refuse(
                span,
                "reorder and reorder_delay require each other (for example reorder = \"1%\", reorder_delay = \"5ms\")",
            );
        }
        Ok(impairment)
    }
}

impl BurstFile {
    fn params(&self) -> Result<BurstParams, Refusal> {
        for (key, given) in [("enter", &self.enter), ("leave", &self.leave)] {
            if given.get_ref().0.0 == 0.0 {
                return refuse(
                    given.span(),
                    format!("{key}: invalid value 0% (expected a probability per packet above 0)"),
                );
            }
        }
        Ok(BurstParams {
            enter: self.enter.get_ref().0,
            leave: self.leave.get_ref().0,
            loss: self.loss.as_ref().map_or(Ratio(1.0), |given| given.0),
        })
    }
}
