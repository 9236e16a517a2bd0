//! The text form of `red`.
use super::words::{Words, refuse};
use super::{SpecError, Text};
use crate::{RedParams, Variant};
use alloc::string::ToString;
use core::fmt;
use fathom_units::{Bytes, Rate, Ratio};

const ABOVE_ZERO: &str = "a value above 0";
/// In packets. Far above any useful value; only a limit of gigabytes leads to more.
const MAX_BURST: u32 = 1 << 20;

impl Default for RedParams {
    /// The defaults of tc; for `limit` and `avpkt`, which it requires, the example of its manual.
    fn default() -> Self {
        let limit = Bytes(400_000);
        let mut params = RedParams {
            variant: Variant::Rfc,
            limit,
            min: Bytes::ZERO,
            max: Bytes::ZERO,
            avpkt: Bytes(1000),
            burst: 0,
            probability: Ratio(0.02),
            rate: Rate::from_bits_per_second(10_000_000),
            ecn: false,
            harddrop: false,
            gentle: false,
            adaptive: false,
        };
        fill(&mut params);
        params
    }
}

/// Replaces zeros by tc's defaults: thresholds from the limit, and a burst from the thresholds.
fn fill(params: &mut RedParams) {
    let (limit, min) = (params.limit.get(), params.min.get());
    if params.max == Bytes::ZERO {
        params.max = Bytes(if min > 0 { 3 * min } else { limit / 4 });
    }
    if params.min == Bytes::ZERO {
        params.min = Bytes(params.max.get() / 3);
    }
    if params.burst == 0 {
        let packets = (2 * params.min.get() + params.max.get()) / (3 * params.avpkt.get());
        params.burst = u32::try_from(packets).unwrap_or(u32::MAX);
    }
}

fn check(params: &RedParams) -> Result<(), SpecError> {
    let bytes = |bytes: Bytes| alloc::format!("{}b", bytes.get());
    if params.max <= params.min || params.min == Bytes::ZERO {
        return Err(refuse("max", &bytes(params.max), "more than min, and min above 0"));
    }
    if params.gentle && params.variant == Variant::Linux {
        return Err(refuse("variant", "linux", "rfc, because Linux has no gentle mode"));
    }
    if params.burst > MAX_BURST {
        let expected = "at most 1048576 packets; reduce limit or increase avpkt";
        return Err(refuse("burst", &params.burst.to_string(), expected));
    }
    if params.weight_log().is_none() {
        let expected = "at least min / avpkt packets, and not thousands of times more";
        return Err(refuse("burst", &params.burst.to_string(), expected));
    }
    Ok(())
}

fn read_word(words: &mut Words<'_>, word: &'static str, params: &mut RedParams) -> Result<(), SpecError> {
    match word {
        "variant" => params.variant = words.variant()?,
        "limit" => params.limit = words.bytes(word, Bytes(1), ABOVE_ZERO)?,
        "min" => params.min = words.bytes(word, Bytes(1), ABOVE_ZERO)?,
        "max" => params.max = words.bytes(word, Bytes(1), ABOVE_ZERO)?,
        "avpkt" => params.avpkt = words.bytes(word, Bytes(1), ABOVE_ZERO)?,
        "burst" => {
            params.burst = words.number(word, 1..=u64::from(MAX_BURST), "a number of packets above 0")? as u32
        }
        "bandwidth" => params.rate = words.rate(word)?,
        "probability" => {
            params.probability = words.ratio(word)?;
            if params.probability.0 <= 0.0 {
                return Err(refuse(word, "0", ABOVE_ZERO));
            }
        }
        "ecn" => params.ecn = true,
        "harddrop" => params.harddrop = true,
        "gentle" => params.gentle = true,
        _ => params.adaptive = true,
    }
    Ok(())
}

impl Text for RedParams {
    const NAME: &'static str = "red";
    const WORDS: &'static str =
        "variant limit min max avpkt burst probability bandwidth ecn harddrop gentle adaptive";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut params = RedParams { min: Bytes::ZERO, max: Bytes::ZERO, burst: 0, ..RedParams::default() };
        while let Some(word) = words.next_known()? {
            read_word(words, word, &mut params)?;
        }
        fill(&mut params);
        check(&params)?;
        Ok(params)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " variant {} limit {}b", self.variant, self.limit.get())?;
        write!(f, " min {}b max {}b", self.min.get(), self.max.get())?;
        write!(f, " avpkt {}b burst {}", self.avpkt.get(), self.burst)?;
        let rate = self.rate.as_bits_per_second();
        write!(f, " probability {} bandwidth {rate}bit", self.probability.0)?;
        let flags = [
            (self.ecn, " ecn"),
            (self.harddrop, " harddrop"),
            (self.gentle, " gentle"),
            (self.adaptive, " adaptive"),
        ];
        flags.iter().filter(|(is_set, _)| *is_set).try_for_each(|(_, word)| f.write_str(word))
    }
}
