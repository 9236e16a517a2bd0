//! Builds packets from words, with relative sequence numbers and options.
use fathom_capture::{Address, Packet, Stamps, TcpHeader, Transport};
use fathom_flow::{End, Sink, Times, Tracer};
use std::fmt::Debug;
use std::str::FromStr;

/// Initial sequence numbers: A's wraps within 5000 bytes, B's changes its sign bit.
const FIRST: [u32; 2] = [0u32.wrapping_sub(5000), 0x7fff_fff0];
pub(crate) const ENDS: [(Address, u16); 2] =
    [(Address::v4([192, 0, 2, 1]), 40000), (Address::v4([198, 51, 100, 2]), 80)];

/// A TCP packet with sequence numbers relative to those of the SYNs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub(crate) is_b: bool,
    pub(crate) sequence: u64,
    pub(crate) payload: u32,
    pub(crate) ack: Option<u64>,
    pub(crate) flags: u16,
    pub(crate) window: u16,
    pub(crate) sack: Vec<(u64, u64)>,
    pub(crate) stamps: Option<(u32, u32)>,
    pub(crate) identification: u16,
    pub(crate) ecn: u8,
    /// Added to both initial sequence numbers to start a new connection.
    pub(crate) shift: u32,
    /// SYN options: MSS and window scale.
    pub(crate) mss: Option<u16>,
    pub(crate) scale: Option<u8>,
}

fn value<T: FromStr<Err: Debug>>(words: &[&str], name: &str) -> Option<T> {
    let at = words.iter().position(|word| *word == name)?;
    Some(words[at + 1].parse().unwrap())
}

fn pair(text: &str, between: char) -> (u64, u64) {
    let (first, second) = text.split_once(between).unwrap();
    (first.parse().unwrap(), second.parse().unwrap())
}

impl Words {
    /// Parses `A 1:1001 ack 1 win 100 sack 5-9,11-12 ts 7/3 id 4 ce psh fin`.
    pub(crate) fn parse(line: &str) -> Words {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (sequence, stop) =
            words.get(1).filter(|word| word.contains(':')).map_or((0, 0), |w| pair(w, ':'));
        let bits = [("fin", 1), ("syn", 2), ("rst", 4), ("psh", 8), ("ece", 0x40), ("cwr", 0x80)];
        let has = |word: &str| words.contains(&word);
        let ack: Option<u64> = value(&words, "ack");
        let flags = bits.iter().filter(|(word, _)| has(word)).map(|(_, bit)| bit).sum::<u16>();
        let sack: String = value(&words, "sack").unwrap_or_default();
        let stamps: Option<String> = value(&words, "ts");
        Words {
            is_b: words[0] == "B",
            sequence,
            payload: (stop - sequence) as u32,
            ack,
            flags: flags | if ack.is_some() { 0x10 } else { 0 },
            window: value(&words, "win").unwrap_or(60000),
            sack: sack.split_terminator(',').map(|block| pair(block, '-')).collect(),
            stamps: stamps.map(|text| pair(&text, '/')).map(|(own, echo)| (own as u32, echo as u32)),
            identification: value(&words, "id").unwrap_or(0),
            ecn: if has("ce") { 3 } else { 2 * u8::from(has("ect")) },
            shift: value(&words, "isn").unwrap_or(0),
            mss: value(&words, "mss"),
            scale: value(&words, "scale"),
        }
    }
    fn options(&self, raw: impl Fn(u64) -> u32) -> Vec<u8> {
        let mut options = Vec::new();
        if let Some(mss) = self.mss {
            options.extend([2, 4]);
            options.extend(mss.to_be_bytes());
        }
        if let Some(scale) = self.scale {
            options.extend([1, 3, 3, scale]);
        }
        if let Some((own, echo)) = self.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend(own.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        if !self.sack.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * self.sack.len() as u8]);
            for (start, stop) in &self.sack {
                options.extend(raw(*start).to_be_bytes());
                options.extend(raw(*stop).to_be_bytes());
            }
        }
        options
    }
    /// Passes the packet to the tracer.
    pub(crate) fn send<S: Sink>(&self, tracer: &mut Tracer<S>, times: Times) {
        let own = usize::from(self.is_b);
        let raw = |end: usize, number: u64| FIRST[end].wrapping_add(self.shift).wrapping_add(number as u32);
        let options = self.options(|number| raw(1 - own, number));
        let tcp = TcpHeader {
            source_port: ENDS[own].1,
            destination_port: ENDS[1 - own].1,
            sequence: raw(own, self.sequence),
            acknowledgement: self.ack.map_or(0, |ack| raw(1 - own, ack)),
            flags: self.flags,
            window: self.window,
            payload_bytes: self.payload,
            stamps: self.stamps.map(|(value, echo)| Stamps { value, echo }),
            options: &options,
            payload: &[],
        };
        let packet = Packet {
            source: ENDS[own].0,
            destination: ENDS[1 - own].0,
            hop_limit: 64,
            dscp: 0,
            ecn: self.ecn,
            identification: Some(self.identification),
            ip_bytes: self.payload + 40 + options.len() as u32,
            wire_bytes: self.payload + 54 + options.len() as u32,
            transport: Transport::Tcp(tcp),
        };
        tracer.packet(times, &packet);
    }
}

pub(crate) const fn letter(end: End) -> char {
    match end {
        End::A => 'A',
        End::B => 'B',
    }
}
