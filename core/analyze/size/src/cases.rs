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
            Self::Growth => growth(|g| format!("{} per second", milliseconds(g.overload))),
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
    Case::new(Talk, "256 packets, a common ring size", "256p 10mbit", Bits, "on the order of 3 Mbit"),
    Case::new(Talk, "256 packets at 10 Mbit/s", "256p 10mbit", Delay, "a third of a second"),
    Case::new(Talk, "256 packets at a conference, share of 1 Mbit/s", "256p 1mbit", Delay, "nothing works"),
    Case::new(Talk, "buffer of a switch at 1 Gbit/s", "8ms 1gbit", Buffer, "8 ms"),
    Case::new(Talk, "a web page's burst of 100 packets at 50 Mbit/s", "100p 50mbit", Delay, "150 ms")
        .but("100 packets take 24 ms; the observed 150 ms match the next line."),
    Case::new(Talk, "150 ms at 50 Mbit/s", "150ms 50mbit", Packets, "100 or more packets"),
    Case::new(Talk, "10 ms at 150 Mbit/s (187,500 B) at 10 Mbit/s", "187500b 10mbit", Delay, "15 times"),
    Case::new(Talk, "10 ms at 300 Mbit/s (375,000 B) at 10 Mbit/s", "375000b 10mbit", Delay, "30 times"),
    Case::new(CheapRam, "3 Mbit/s uplink, from 50 ms to 1 s", "950ms 3mbit", Buffer, "over 1,000 ms"),
    Case::new(
        CheapRam,
        "a terabyte carried by car in 2 h 20 min",
        "1000000000000b 140min",
        Rate,
        "975 Mbit/s",
    )
    .but("10^12 bytes give 952 Mbit/s; 975 Mbit/s are 1.024 x 10^12 bytes."),
    Case::new(OnBufferbloat, "a switch that adds 340 ms at 100 Mbit/s", "340ms 100mbit", Buffer, "4 MB"),
    Case::new(
        OnBufferbloat,
        "same switch at 110 Mbit/s: growth of the delay",
        "340ms 100mbit --arriving 110mbit",
        Growth,
        "(pings: about 90 ms)",
    ),
    Case::new(
        OnBufferbloat,
        "same switch at 110 Mbit/s: time to fill",
        "340ms 100mbit --arriving 110mbit",
        Fill,
        "(pings: 4 s)",
    ),
    Case::new(OnBufferbloat, "1.5 GB at 100 Mbit/s", "1.5gb 100mbit", Delay, "129 s"),
    Case::new(
        OnBufferbloat,
        "1 Gbit/s with 1 % overload that adds 40 s",
        "40s 1gbit --overload 1%",
        Buffer,
        "half a minute and more",
    ),
    Case::new(
        OnBufferbloat,
        "same link: growth of the delay",
        "40s 1gbit --overload 1%",
        Growth,
        "not stated",
    ),
    Case::new(OnBufferbloat, "same link: time to reach 40 s", "40s 1gbit --overload 1%", Fill, "not stated"),
    Case::new(
        OnBufferbloat,
        "same link: overload that takes an hour",
        "40s 1gbit --fill 60min",
        Overload,
        "not stated",
    ),
    Case::new(OnBufferbloat, "card reader at 10 Mbit/s, queue of 2 s", "2s 10mbit", Packets, "2 s"),
    Case::new(OnBufferbloat, "card reader at 10 Mbit/s, queue of 5 s", "5s 10mbit", Packets, "5 s"),
    Case::new(OnBufferbloat, "100 kB at 10 Mbit/s", "100000b 10mbit", Delay, "800 ms")
        .but("Off by a factor of ten: 800 ms are 1 MB. The argument holds, since 1,000 packets add 1.2 s."),
    Case::new(OnBufferbloat, "800 ms at 10 Mbit/s", "800ms 10mbit", Buffer, "100 kB")
        .but("The same error in the other direction."),
    Case::new(
        OnBufferbloat,
        "100 kB in packets of 1500 B",
        "100000b 10mbit --packet 1500b",
        Packets,
        "67 packets",
    ),
    Case::new(
        OnBufferbloat,
        "100 kB in packets of 64 B",
        "100000b 10mbit --packet 64b",
        Packets,
        "1563 packets",
    ),
    Case::new(OnBufferbloat, "1000 packets of 64 B", "1000p 10mbit --packet 64b", Buffer, "64 kB"),
    Case::new(OnBufferbloat, "1000 packets of 1500 B", "1000p 10mbit --packet 1500b", Buffer, "1.5 MB"),
    Case::new(
        OnBufferbloat,
        "1000 packets of 1500 B at 10 Mbit/s",
        "1000p 10mbit --packet 1500b",
        Delay,
        "above 800 ms",
    ),
    Case::new(
        OnBufferbloat,
        "1000 packets of 100 B at 10 Mbit/s",
        "1000p 10mbit --packet 100b",
        Delay,
        "800 ms",
    )
    .but("The same error: 1000 packets take 800 ms only if they exceed 1000 B, not 100 B."),
    Case::new(OnBufferbloat, "10 ms at 10 Gbit/s", "10ms 10gbit", Buffer, "10 ms"),
    Case::new(OnBufferbloat, "the same 12,500,000 B at 100 Mbit/s", "12500000b 100mbit", Delay, "1 s"),
    Case::new(
        OnBufferbloat,
        "100 ms at 10 Gbit/s (125,000,000 B) at 100 Mbit/s",
        "125000000b 100mbit",
        Delay,
        "10 s",
    ),
    Case::new(OnBufferbloat, "9 GB shared buffer, port at 10 Gbit/s", "9gb 10gbit", Delay, "7.7 s"),
    Case::new(OnBufferbloat, "9 GB shared buffer, port at 1 Gbit/s", "9gb 1gbit", Delay, "77 s"),
    Case::new(OnBufferbloat, "9 GB shared buffer, port at 100 Mbit/s", "9gb 100mbit", Delay, "777 s")
        .but("9 GiB, as in the two lines above, take 773 s; 9 x 10^9 bytes would take 720 s."),
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
    Case::new(OnBufferbloat, "uplink of 2 Mbit/s that adds 30 s", "30s 2mbit", Buffer, "more than 30 s"),
];
