//! A finding as fields of JSON: what was sent, in which direction, and what happened to it.
use crate::{EcnFlags, Fate, Finding, Handshake, Place, Probe};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_units::{Direction, Ecn};
use serde::{Deserialize, Serialize};

/// The fields of a finding. `docs/schema/result.schema.json` describes them.
#[derive(Serialize, Deserialize)]
pub(crate) struct Fields {
    packet: Packet,
    direction: Direction,
    flags: Option<String>,
    codepoint: String,
    fate: Name,
    arrived: Option<String>,
    flags_arrived: Option<String>,
    after_hop: Option<u8>,
    before_hop: Option<u8>,
    certain: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Packet {
    Syn,
    Udp,
    Data,
    Echo,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    Kept,
    Changed,
    FlagsChanged,
    Dropped,
    Refused,
    Unknown,
}

impl From<Finding> for Fields {
    fn from(finding: Finding) -> Self {
        let packet = match finding.probe {
            Probe::Syn(_) | Probe::MarkedSyn(_) => Packet::Syn,
            Probe::Udp(_) => Packet::Udp,
            Probe::Data(_) => Packet::Data,
            Probe::Echo(_) => Packet::Echo,
        };
        let (fate, arrived, flags_arrived) = match finding.fate {
            Fate::Kept => (Name::Kept, None, None),
            Fate::Changed(to) => (Name::Changed, to, None),
            Fate::FlagsChanged(to) => (Name::FlagsChanged, None, Some(to)),
            Fate::Dropped => (Name::Dropped, None, None),
            Fate::Refused => (Name::Refused, None, None),
            Fate::Unknown => (Name::Unknown, None, None),
        };
        Fields {
            packet,
            direction: finding.direction,
            flags: finding.probe.syn_flags().map(|flags| flags.to_string()),
            codepoint: finding.probe.codepoint().name().to_string(),
            fate,
            arrived: arrived.map(|ecn| ecn.name().to_string()),
            flags_arrived: flags_arrived.map(|flags| flags.to_string()),
            after_hop: finding.place.map(|place| place.after),
            before_hop: finding.place.map(|place| place.before),
            certain: finding.is_certain,
        }
    }
}

impl TryFrom<Fields> for Finding {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let codepoint = codepoint(&fields.codepoint)?;
        let probe = match (fields.packet, fields.flags.as_deref().map(flags).transpose()?) {
            (Packet::Syn, Some(EcnFlags(0))) if codepoint != Ecn::NotEct => Probe::MarkedSyn(codepoint),
            (Packet::Syn, sent) => Probe::Syn(handshake(sent.unwrap_or_default())?),
            (Packet::Udp, _) => Probe::Udp(codepoint),
            (Packet::Data, _) => Probe::Data(codepoint),
            (Packet::Echo, _) => Probe::Echo(codepoint),
        };
        let arrived = fields.arrived.as_deref().map(self::codepoint).transpose()?;
        let fate = match (fields.fate, fields.flags_arrived.as_deref()) {
            (Name::Kept, _) => Fate::Kept,
            (Name::Changed, _) => Fate::Changed(arrived),
            (Name::FlagsChanged, Some(to)) => Fate::FlagsChanged(flags(to)?),
            (Name::FlagsChanged, None) => return Err("flags_arrived is missing".into()),
            (Name::Dropped, _) => Fate::Dropped,
            (Name::Refused, _) => Fate::Refused,
            (Name::Unknown, _) => Fate::Unknown,
        };
        let place = fields.after_hop.zip(fields.before_hop).map(|(after, before)| Place { after, before });
        Ok(Finding { probe, direction: fields.direction, fate, place, is_certain: fields.certain })
    }
}

fn codepoint(name: &str) -> Result<Ecn, String> {
    let found = Ecn::ALL.into_iter().find(|ecn| ecn.name() == name);
    found.ok_or_else(|| format!("invalid codepoint \"{name}\""))
}

fn flags(name: &str) -> Result<EcnFlags, String> {
    let found = (0..8).map(EcnFlags).find(|flags| flags.to_string() == name);
    found.ok_or_else(|| format!("invalid flags \"{name}\""))
}

fn handshake(flags: EcnFlags) -> Result<Handshake, String> {
    let all = [Handshake::Plain, Handshake::Classic, Handshake::Accurate];
    let found = all.into_iter().find(|handshake| handshake.flags() == flags);
    found.ok_or_else(|| format!("invalid flags \"{flags}\""))
}
