//! The calculations in the project's founding sources.
use crate::{Answer, Question, SizeError};
use Quantity::{Bits, Buffer, Delay, Fill, Growth, Overload, Packets, Rate};
use Seed::{CheapRam, OnBufferbloat, Talk};
use alloc::format;
use alloc::string::String;
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};

/// One of the texts on which the project is based.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seed {
    /// J. Gettys, "Bufferbloat: Dark Buffers in the Internet", talk, 2011.
    Talk,
    /// K. Seifried, "Will cheap RAM break the Internet?", 2011.
    CheapRam,
    /// E. Auerswald, "On Bufferbloat".
    OnBufferbloat,
}

impl Seed {
    /// Author and title.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Talk => "J. Gettys, Dark Buffers in the Internet",
            Self::CheapRam => "K. Seifried, Will cheap RAM break the Internet?",
            Self::OnBufferbloat => "E. Auerswald, On Bufferbloat",
        }
    }
}

/// The quantity that the source publishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quantity {
    Delay,
    Buffer,
    Bits,
    Packets,
    Rate,
    Growth,
    Fill,
    Overload,
}

/// A calculation in a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// The source.
    pub seed: Seed,
    /// Description.
    pub says: &'static str,
    /// The question as arguments of `fathom size`.
    pub asked: &'static str,
    quantity: Quantity,
    /// The published result.
    pub published: &'static str,
    /// Why the published result differs, if it does.
    pub note: Option<&'static str>,
}

impl Case {
    const fn new(
        seed: Seed,
        says: &'static str,
        asked: &'static str,
        quantity: Quantity,
        published: &'static str,
    ) -> Self {
        Case { seed, says, asked, quantity, published, note: None }
    }
    const fn but(self, note: &'static str) -> Self {
        Case { note: Some(note), ..self }
    }
    /// The calculated result.
    ///
    /// # Errors
    /// As for [`Question::answer`]; no entry of [`CASES`] fails.
    pub fn outcome(&self) -> Result<String, SizeError> {
        Ok(self.quantity.text(&self.asked.parse::<Question>()?.answer()?))
    }
}

impl Quantity {
    fn text(self, answer: &Answer) -> String {
        let growth =
            |value: fn(&crate::Growth) -> String| answer.growth.as_ref().map(value).unwrap_or_default();
        match self {
            Self::Delay => time(answer.delay.as_secs_f64()),
            Self::Buffer => bytes(answer.buffer.0 as f64),
            Self::Bits => rate(answer.buffer.0 as f64 * 8.0).replace("/s", ""),
            Self::Packets => format!("{} packets", thousands(answer.packets)),
            Self::Rate => rate(answer.rate.as_bits_per_second() as f64),
            Self::Growth => growth(|g| format!("{} a second", milliseconds(g.overload))),
            Self::Fill => growth(|g| time(g.fill.as_secs_f64())),
            Self::Overload => growth(|g| percent(g.overload)),
        }
    }
}

/// Uses milliseconds below ten seconds.
fn time(value: f64) -> String {
    if value < 9.95 { milliseconds(value) } else { seconds(value) }
}

/// All calculations in the sources, in their order.
pub const CASES: [Case; 37] = [
    Case::new(Talk, "256 packets, a ring often seen", "256p 10mbit", Bits, "on the order of 3 Mbit"),
    Case::new(Talk, "they at 10 Mbit/s", "256p 10mbit", Delay, "a third of a second"),
    Case::new(Talk, "they at a busy conference, a share of 1 Mbit/s", "256p 1mbit", Delay, "nothing works"),
    Case::new(Talk, "what a switch needs at 1 Gbit/s", "8ms 1gbit", Buffer, "8 ms"),
    Case::new(Talk, "a web page's burst of 100 packets at 50 Mbit/s", "100p 50mbit", Delay, "150 ms")
        .but("100 packets are 24 ms; the 150 ms that were seen are those of the next line."),
    Case::new(Talk, "150 ms at 50 Mbit/s", "150ms 50mbit", Packets, "100 or more packets"),
    Case::new(
        Talk,
        "10 ms of 150 Mbit/s (187,500 B), provisioned to 10",
        "187500b 10mbit",
        Delay,
        "15 times",
    ),
    Case::new(
        Talk,
        "10 ms of 300 Mbit/s (375,000 B), provisioned to 10",
        "375000b 10mbit",
        Delay,
        "30 times",
    ),
    Case::new(CheapRam, "3 Mbit/s up, from 50 ms to a second", "950ms 3mbit", Buffer, "over 1,000 ms"),
    Case::new(CheapRam, "a terabyte driven over in 2 h 20 min", "1000000000000b 140min", Rate, "975 Mbit/s")
        .but("10^12 bytes make 952 Mbit/s; 975 are 1.024 x 10^12 bytes."),
    Case::new(OnBufferbloat, "a switch that adds 340 ms at 100 Mbit/s", "340ms 100mbit", Buffer, "4 MB"),
    Case::new(
        OnBufferbloat,
        "it, offered 110 Mbit/s: the delay grows by",
        "340ms 100mbit --arriving 110mbit",
        Growth,
        "(pings: about 90 ms)",
    ),
    Case::new(OnBufferbloat, "and is full after", "340ms 100mbit --arriving 110mbit", Fill, "(pings: 4 s)"),
    Case::new(OnBufferbloat, "1.5 GB at 100 Mbit/s", "1.5gb 100mbit", Delay, "129 s"),
    Case::new(
        OnBufferbloat,
        "1 Gbit/s overloaded by 1 % that adds 40 s",
        "40s 1gbit --overload 1%",
        Buffer,
        "half a minute and more",
    ),
    Case::new(OnBufferbloat, "its delay grows by", "40s 1gbit --overload 1%", Growth, "not said"),
    Case::new(OnBufferbloat, "and the 40 s are reached after", "40s 1gbit --overload 1%", Fill, "not said"),
    Case::new(
        OnBufferbloat,
        "an overload that takes an hour to it",
        "40s 1gbit --fill 60min",
        Overload,
        "not said",
    ),
    Case::new(OnBufferbloat, "card readers of 10 Mbit/s, queues of 2 s", "2s 10mbit", Packets, "2 s"),
    Case::new(OnBufferbloat, "and of 5 s", "5s 10mbit", Packets, "5 s"),
    Case::new(OnBufferbloat, "100 kB at 10 Mbit/s", "100000b 10mbit", Delay, "800 ms")
        .but("Wrong by ten: 800 ms take 1 MB. The point stands, for 1,000 packets do hold 1.2 s."),
    Case::new(OnBufferbloat, "800 ms at 10 Mbit/s", "800ms 10mbit", Buffer, "100 kB")
        .but("The same slip, from the other side."),
    Case::new(
        OnBufferbloat,
        "100 kB in packets of 1500 B",
        "100000b 10mbit --packet 1500b",
        Packets,
        "67 packets",
    ),
    Case::new(OnBufferbloat, "and of 64 B", "100000b 10mbit --packet 64b", Packets, "1563 packets"),
    Case::new(OnBufferbloat, "1000 packets of 64 B", "1000p 10mbit --packet 64b", Buffer, "64 kB"),
    Case::new(OnBufferbloat, "1000 packets of 1500 B", "1000p 10mbit --packet 1500b", Buffer, "1.5 MB"),
    Case::new(OnBufferbloat, "they at 10 Mbit/s", "1000p 10mbit --packet 1500b", Delay, "above 800 ms"),
    Case::new(
        OnBufferbloat,
        "1000 packets of 100 B at 10 Mbit/s",
        "1000p 10mbit --packet 100b",
        Delay,
        "800 ms",
    )
    .but("The slip again: packets must be above 1000 B, not 100 B, for 1000 of them to take 800 ms."),
    Case::new(OnBufferbloat, "10 ms of 10 Gbit/s", "10ms 10gbit", Buffer, "10 ms"),
    Case::new(OnBufferbloat, "they (12,500,000 B) at 100 Mbit/s", "12500000b 100mbit", Delay, "1 s"),
    Case::new(
        OnBufferbloat,
        "100 ms of 10 Gbit/s (125,000,000 B) at 100 Mbit/s",
        "125000000b 100mbit",
        Delay,
        "10 s",
    ),
    Case::new(OnBufferbloat, "9 GB of shared buffer, one port of 10 Gbit/s", "9gb 10gbit", Delay, "7.7 s"),
    Case::new(OnBufferbloat, "one of 1 Gbit/s", "9gb 1gbit", Delay, "77 s"),
    Case::new(OnBufferbloat, "one of 100 Mbit/s", "9gb 100mbit", Delay, "777 s")
        .but("9 GiB, as in the two lines above, are 773 s; 9 x 10^9 bytes would be 720 s."),
    Case::new(
        OnBufferbloat,
        "bandwidth x delay: 1 Gbit/s, 100 ms",
        "100ms 1gbit --flows 1",
        Buffer,
        "one round trip",
    ),
    Case::new(
        OnBufferbloat,
        "bandwidth x delay / sqrt(n): 10,000 flows",
        "100ms 1gbit --flows 10000",
        Buffer,
        "two orders of magnitude less",
    ),
    Case::new(OnBufferbloat, "an uplink of 2 Mbit/s that adds 30 s", "30s 2mbit", Buffer, "more than 30 s"),
];
