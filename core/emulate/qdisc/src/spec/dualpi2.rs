//! The text form of `dualpi2`.
use super::words::{Exact, Words, refuse};
use super::{SpecError, Text};
use crate::{DualPi2Params, Variant};
use core::fmt;
use fathom_units::{Duration, Ratio};

/// With higher gains, one millisecond could change the probability from 0 to 1 in one update.
const MAX_GAIN: f64 = 1000.0;

impl DualPi2Params {
    /// The defaults of RFC 9332 appendix A, or of Linux.
    fn of(variant: Variant) -> Self {
        let (tupdate, alpha, beta) = match variant {
            Variant::Rfc => (15, 0.15, 3.0),
            Variant::Linux => (16, 0.16, 3.2),
        };
        DualPi2Params {
            variant,
            limit_packets: 10_000,
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(tupdate),
            alpha,
            beta,
            coupling_factor: 2,
            min_th: Duration::from_micros(800),
            range: Duration::from_micros(400),
            step_thresh: Duration::from_millis(1),
            classic_protection: Ratio(0.1),
            drop_on_overload: true,
        }
    }
}
impl Default for DualPi2Params {
    fn default() -> Self {
        DualPi2Params::of(Variant::Rfc)
    }
}

fn gain(words: &mut Words<'_>, word: &'static str) -> Result<f64, SpecError> {
    let text = words.value(word)?;
    let gain = text.parse().ok().filter(|gain| (0.0..=MAX_GAIN).contains(gain));
    gain.ok_or_else(|| refuse(word, text, "a number from 0 to 1000, in 1/s"))
}

fn read_word(words: &mut Words<'_>, word: &'static str, params: &mut DualPi2Params) -> Result<(), SpecError> {
    match word {
        "variant" => params.variant = words.variant()?,
        "target" => params.target = words.duration(word)?,
        "coupling_factor" => {
            params.coupling_factor = words.number(word, 1..=255, "a whole number from 1 to 255")? as u32;
        }
        "min_th" => params.min_th = words.duration(word)?,
        "range" => params.range = words.duration(word)?,
        "step_thresh" => params.step_thresh = words.duration(word)?,
        "classic_protection" => params.classic_protection = words.ratio(word)?,
        "drop_on_overload" => params.drop_on_overload = true,
        "overflow" => params.drop_on_overload = false,
        _ => params.limit_packets = words.packets("limit")?,
    }
    Ok(())
}

impl Text for DualPi2Params {
    const NAME: &'static str = "dualpi2";
    const WORDS: &'static str = "variant limit target tupdate alpha beta coupling_factor min_th range step_thresh \
        classic_protection drop_on_overload overflow";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut params = DualPi2Params::default();
        // Their defaults depend on the variant, which may come last.
        let (mut tupdate, mut alpha, mut beta) = (None, None, None);
        while let Some(word) = words.next_known()? {
            match word {
                "tupdate" => tupdate = Some(words.duration(word)?),
                "alpha" => alpha = Some(gain(words, word)?),
                "beta" => beta = Some(gain(words, word)?),
                _ => read_word(words, word, &mut params)?,
            }
        }
        let usual = DualPi2Params::of(params.variant);
        params.tupdate = tupdate.unwrap_or(usual.tupdate);
        params.alpha = alpha.unwrap_or(usual.alpha);
        params.beta = beta.unwrap_or(usual.beta);
        Ok(params)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " variant {} limit {}p", self.variant, self.limit_packets)?;
        write!(f, " target {} tupdate {}", Exact(self.target), Exact(self.tupdate))?;
        write!(f, " alpha {} beta {}", self.alpha, self.beta)?;
        write!(f, " coupling_factor {}", self.coupling_factor)?;
        write!(f, " min_th {} range {}", Exact(self.min_th), Exact(self.range))?;
        write!(f, " step_thresh {}", Exact(self.step_thresh))?;
        write!(f, " classic_protection {}", self.classic_protection.0)?;
        f.write_str(if self.drop_on_overload { " drop_on_overload" } else { " overflow" })
    }
}
