//! The text form of `cake`, with the keywords of `tc-cake(8)`.
use super::words::{Exact, Words, refuse};
use super::{SpecError, Text};
use crate::{AckFilter, CakeParams, Cells, Diffserv, Framing, Isolation, SizeBase, Variant};
use core::fmt;
use fathom_units::{Bytes, Duration};

impl Default for CakeParams {
    /// The defaults of `tc-cake(8)`.
    fn default() -> Self {
        CakeParams {
            rate: None,
            autorate: false,
            rtt: Duration::from_millis(100),
            diffserv: Diffserv::default(),
            isolation: Isolation::default(),
            wash: false,
            ack_filter: AckFilter::default(),
            memory: None,
            ingress: false,
            framing: Framing::default(),
            variant: Variant::Rfc,
        }
    }
}

/// Keywords and their values.
type Table<T> = &'static [(&'static str, T)];

/// `interplanetary` has the value that `tc` sets; its manual says 3600 s. Both hardly ever signal.
const RTTS: Table<Duration> = &[
    ("datacentre", Duration::from_micros(100)),
    ("lan", Duration::from_millis(1)),
    ("metro", Duration::from_millis(10)),
    ("regional", Duration::from_millis(30)),
    ("internet", Duration::from_millis(100)),
    ("oceanic", Duration::from_millis(300)),
    ("satellite", Duration::from_millis(1000)),
    ("interplanetary", Duration::from_secs(1000)),
];
const DIFFSERVS: Table<Diffserv> = &[
    ("besteffort", Diffserv::BestEffort),
    ("precedence", Diffserv::Precedence),
    ("diffserv3", Diffserv::Diffserv3),
    ("diffserv4", Diffserv::Diffserv4),
    ("diffserv8", Diffserv::Diffserv8),
];
const ISOLATIONS: Table<Isolation> = &[
    ("flowblind", Isolation::Blind),
    ("srchost", Isolation::Source),
    ("dsthost", Isolation::Destination),
    ("hosts", Isolation::Hosts),
    ("flows", Isolation::Flows),
    ("dual-srchost", Isolation::DualSource),
    ("dual-dsthost", Isolation::DualDestination),
    ("triple-isolate", Isolation::Triple),
];
const ACK_FILTERS: Table<AckFilter> = &[
    ("no-ack-filter", AckFilter::Off),
    ("ack-filter", AckFilter::On),
    ("ack-filter-aggressive", AckFilter::Aggressive),
];
const CELLS: Table<Cells> = &[("noatm", Cells::None), ("atm", Cells::Atm), ("ptm", Cells::Ptm)];
/// Overhead, cells, and minimum packet of each line type (0 leaves the minimum unchanged).
const LINES: Table<(i64, Cells, u64)> = &[
    ("pppoa-vcmux", (10, Cells::Atm, 0)),
    ("pppoa-llc", (14, Cells::Atm, 0)),
    ("pppoe-vcmux", (32, Cells::Atm, 0)),
    ("pppoe-llcsnap", (40, Cells::Atm, 0)),
    ("bridged-vcmux", (24, Cells::Atm, 0)),
    ("bridged-llcsnap", (32, Cells::Atm, 0)),
    ("ipoa-vcmux", (8, Cells::Atm, 0)),
    ("ipoa-llcsnap", (16, Cells::Atm, 0)),
    ("pppoe-ptm", (30, Cells::Ptm, 0)),
    ("bridged-ptm", (22, Cells::Ptm, 0)),
    ("docsis", (18, Cells::None, 64)),
    ("ethernet", (38, Cells::None, 84)),
];
/// The tag of IEEE 802.1Q, once per `ether-vlan`.
const VLAN_TAG: i64 = 4;
/// Overhead of `conservative`: more than any line in wide use needs.
const CONSERVATIVE: i64 = 48;
const MAX_MIN_PACKET: u64 = 256;

fn lookup<T: Copy>(table: Table<T>, word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}
fn name<T: PartialEq>(table: Table<T>, value: &T) -> &'static str {
    table.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

/// Applies a keyword without a value; returns false if it is none.
fn plain(params: &mut CakeParams, word: &'static str) -> bool {
    match word {
        "unlimited" => params.rate = None,
        "autorate-ingress" => params.autorate = true,
        "wash" | "nowash" => params.wash = word == "wash",
        "ingress" | "egress" => params.ingress = word == "ingress",
        "nonat" => {}
        _ => {
            let rtt = lookup(RTTS, word).map(|rtt| params.rtt = rtt);
            let diffserv = lookup(DIFFSERVS, word).map(|diffserv| params.diffserv = diffserv);
            let isolation = lookup(ISOLATIONS, word).map(|isolation| params.isolation = isolation);
            let filter = lookup(ACK_FILTERS, word).map(|filter| params.ack_filter = filter);
            return rtt.or(diffserv).or(isolation).or(filter).is_some();
        }
    }
    true
}

/// Applies a keyword about sizes; false if it is none. Any `raw` selects the wire size as base.
fn size(
    framing: &mut Framing,
    is_raw: &mut bool,
    words: &mut Words<'_>,
    word: &'static str,
) -> Result<bool, SpecError> {
    match word {
        "raw" => {
            *is_raw = true;
            *framing = Framing { min_packet: framing.min_packet, ..Framing::default() };
        }
        "overhead" => framing.overhead = overhead(words.value(word)?)?,
        "mpu" => {
            framing.min_packet = words.number(word, 0..=MAX_MIN_PACKET, "a number of bytes from 0 to 256")?;
        }
        "ether-vlan" => framing.overhead += VLAN_TAG,
        "conservative" => (framing.overhead, framing.cells) = (CONSERVATIVE, Cells::Atm),
        _ => match (lookup(CELLS, word), lookup(LINES, word)) {
            (Some(cells), _) => framing.cells = cells,
            (_, Some((overhead, cells, min_packet))) => {
                framing.overhead += overhead;
                framing.cells = cells;
                framing.min_packet = if min_packet > 0 { min_packet } else { framing.min_packet };
            }
            _ => return Ok(false),
        },
    }
    framing.base = if *is_raw { SizeBase::Wire } else { SizeBase::Ip };
    Ok(true)
}

fn overhead(text: &str) -> Result<i64, SpecError> {
    let bytes = text.parse().ok().filter(|bytes| (-64..=256).contains(bytes));
    bytes.ok_or_else(|| refuse("overhead", text, "a number of bytes from -64 to 256"))
}

impl Text for CakeParams {
    const NAME: &'static str = "cake";
    const WORDS: &'static str = "bandwidth unlimited autorate-ingress rtt datacentre lan metro regional internet oceanic \
        satellite interplanetary besteffort precedence diffserv3 diffserv4 diffserv8 flowblind \
        srchost dsthost hosts flows dual-srchost dual-dsthost triple-isolate nat nonat wash nowash \
        ack-filter ack-filter-aggressive no-ack-filter memlimit ingress egress overhead mpu atm ptm \
        noatm raw conservative pppoa-vcmux pppoa-llc pppoe-vcmux pppoe-llcsnap bridged-vcmux \
        bridged-llcsnap ipoa-vcmux ipoa-llcsnap pppoe-ptm bridged-ptm docsis ethernet ether-vlan \
        variant";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let (mut params, mut is_raw) = (CakeParams::default(), false);
        while let Some(word) = words.next_known()? {
            match word {
                "bandwidth" => params.rate = Some(words.rate(word)?),
                "variant" => params.variant = words.variant()?,
                "rtt" => params.rtt = words.duration(word)?,
                "memlimit" => params.memory = Some(words.bytes(word, Bytes(1), "a value above 0")?),
                "nat" => return Err(SpecError::Nat),
                _ if plain(&mut params, word) => {}
                _ => {
                    size(&mut params.framing, &mut is_raw, words, word)?;
                }
            }
        }
        Ok(params)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.variant == Variant::Linux {
            f.write_str(" variant linux")?;
        }
        match self.rate {
            Some(rate) => write!(f, " bandwidth {}bit", rate.as_bits_per_second())?,
            None => f.write_str(" unlimited")?,
        }
        if self.autorate {
            f.write_str(" autorate-ingress")?;
        }
        let (diffserv, isolation) = (name(DIFFSERVS, &self.diffserv), name(ISOLATIONS, &self.isolation));
        let (wash, filter) = (if self.wash { "wash" } else { "nowash" }, name(ACK_FILTERS, &self.ack_filter));
        write!(f, " {diffserv} {isolation} {wash} {filter} rtt {}", Exact(self.rtt))?;
        if let Some(memory) = self.memory {
            write!(f, " memlimit {}b", memory.get())?;
        }
        let direction = if self.ingress { "ingress" } else { "egress" };
        write!(f, " {direction}{}", self.framing)
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.base == SizeBase::Wire {
            f.write_str(" raw")?;
        }
        if *self == Framing::default() {
            return Ok(());
        }
        write!(f, " overhead {} mpu {} {}", self.overhead, self.min_packet, name(CELLS, &self.cells))
    }
}
