//! Evidence to findings.
//!
//! A router may quote a packet with a field that it did not forward, and some do not return the
//! codepoint of an echo request. So a change counts only if no later point shows the sent value,
//! and it is certain only if two points show it. A drop is certain only if the same packets without
//! ECN show that chance is no explanation.
use crate::data::Fields;
use crate::{Class, EcnFlags, Evidence, Handshake, PROBES, Point, Probe};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use fathom_units::{Direction, Ecn};
use serde::{Deserialize, Serialize};

/// Replies that must agree until a change is certain.
const AGREEING: u32 = 3;
/// Probes that must be lost at one point until it is called a drop.
const LOST: u32 = 3;
/// Probability below which chance does not explain that all of them were lost. A test has up to 18
/// kinds of probes at 30 points, so one of a thousand tests is wrong at most.
pub(crate) const CHANCE: f64 = 1e-6;

/// What happened to a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It arrived unchanged.
    Kept,
    /// Its codepoint changed, to this one if that is known.
    Changed(Option<Ecn>),
    /// The flags of a SYN changed.
    FlagsChanged(EcnFlags),
    /// It was dropped, and the same without ECN was not.
    Dropped,
    /// It was answered by a reset, and the same without ECN was not.
    Refused,
    /// No reply shows it.
    Unknown,
}

/// Two points of a path between which something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The last hop that shows the sent value; 0 is this host.
    pub after: u8,
    /// The first hop that does not.
    pub before: u8,
}

/// What happened to the probes of one kind in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Finding {
    /// The probe. [`Probe::Data`] in direction down is data that the host sent.
    pub probe: Probe,
    /// Direction.
    pub direction: Direction,
    /// What happened.
    pub fate: Fate,
    /// Where; for a probe that was kept, the last point that shows it.
    pub place: Option<Place>,
    /// Whether the evidence excludes other explanations.
    pub is_certain: bool,
}

impl Finding {
    /// Whether packets do not arrive.
    #[must_use]
    pub const fn is_blocked(&self) -> bool {
        matches!(self.fate, Fate::Dropped | Fate::Refused)
    }
    /// Whether packets do not arrive, or arrive changed.
    #[must_use]
    pub const fn is_problem(&self) -> bool {
        !matches!(self.fate, Fate::Kept | Fate::Unknown)
    }
    /// Orders problems.
    fn importance(&self) -> (bool, u8, usize) {
        let kind = match self.probe {
            Probe::Syn(_) => 0,
            Probe::Data(Ecn::Ect0) => 1,
            _ => 2,
        };
        (!self.is_blocked(), kind, self.probe.index())
    }
}

/// All findings, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summary {
    /// The host does not answer.
    NoAnswer,
    /// Packets with ECN are dropped or refused.
    Blocked,
    /// Codepoints or flags change.
    Altered,
    /// All that could be seen was kept.
    Survives,
    /// Too little could be seen.
    Unknown,
}

/// The judgment of a path.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Hop of the host, if it answered.
    pub host_hop: Option<u8>,
    /// Addresses of the hops.
    pub hops: Vec<(u8, Option<Ipv4Addr>)>,
    /// Findings, in the order of [`PROBES`].
    pub findings: Vec<Finding>,
    /// What the host replied to a SYN with ECE and CWR.
    pub classic_reply: Option<EcnFlags>,
    /// What the host replied to a SYN with AE, CWR and ECE.
    pub accurate_reply: Option<EcnFlags>,
    /// The host answers a SYN without ECN with a reset.
    pub is_port_closed: bool,
    /// Where datagrams expire that get as far as what answers as the host: a middlebox may answer
    /// for it.
    pub intercepted_at: Option<Ipv4Addr>,
}

impl Report {
    /// The certain findings that are problems.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_certain && finding.is_problem())
    }
    /// All findings, in one word.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let is_kept = |finding: &Finding| finding.fate == Fate::Kept && finding.direction == Direction::Up;
        if self.problems().any(Finding::is_blocked) {
            Summary::Blocked
        } else if self.problems().next().is_some() {
            Summary::Altered
        } else if self.host_hop.is_none() {
            Summary::NoAnswer
        } else if self.findings.iter().any(is_kept) {
            Summary::Survives
        } else {
            Summary::Unknown
        }
    }
}

/// Judges what was observed.
#[must_use]
pub fn judge(evidence: &Evidence) -> Report {
    let points = &evidence.points;
    let mut findings: Vec<Finding> = PROBES
        .iter()
        .filter(|probe| probe.class() != Class::Echo)
        .flat_map(|probe| forward(evidence, *probe))
        .collect();
    corroborate(&mut findings);
    findings.extend(backward(evidence));
    Report {
        host_hop: points.iter().find(|point| point.is_host).map(|point| point.hop),
        hops: points.iter().map(|point| (point.hop, point.address)).collect(),
        findings,
        classic_reply: evidence.from_host.classic_reply,
        accurate_reply: evidence.from_host.accurate_reply,
        is_port_closed: points.iter().any(is_closed),
        intercepted_at: evidence.intercepted_at,
    }
}

fn is_closed(point: &Point) -> bool {
    let control = point.tally(Probe::Syn(Handshake::Plain));
    point.is_host && control.refused > 0 && control.refused == control.answered
}

/// The value that a point shows.
#[derive(Clone, Copy, Debug)]
struct Look<T> {
    hop: u8,
    value: T,
    is_same: bool,
    count: u32,
}

/// A change, and where it shows.
#[derive(Clone, Copy, Debug)]
struct Change<T> {
    value: T,
    place: Place,
    /// Points and replies that show it.
    points: usize,
    count: u32,
}

/// The change that all points from some point on show.
fn change<T: Copy>(looks: &[Look<T>]) -> Option<Change<T>> {
    let run = looks.iter().rev().take_while(|look| !look.is_same).count();
    let (before, after) = looks.split_at(looks.len() - run);
    let (first, last) = (after.first()?, after.last()?);
    let kept = before.iter().rev().find(|look| look.is_same).map_or(0, |look| look.hop);
    Some(Change {
        value: last.value,
        place: Place { after: kept, before: first.hop },
        points: run,
        count: after.iter().map(|look| look.count).sum(),
    })
}

fn codepoint_look(point: &Point, probe: Probe) -> Option<Look<Option<Ecn>>> {
    let tally = point.tally(probe);
    let count = tally.seen.iter().sum::<u32>() + tally.unlike;
    let same = tally.seen[probe.codepoint() as usize];
    // Some of them are marked by an AQM, or take another path: no evidence.
    if count == 0 || (same > 0 && same < count) {
        return None;
    }
    let value = Ecn::ALL.into_iter().find(|ecn| tally.seen[*ecn as usize] == count);
    Some(Look { hop: point.hop, value, is_same: same > 0, count })
}

/// The codepoint of the last change that a router shows.
fn before_last(looks: &[Look<Option<Ecn>>]) -> Option<Ecn> {
    looks.iter().rev().take_while(|look| !look.is_same).find_map(|look| look.value)
}

fn flags_look(point: &Point, probe: Probe) -> Option<Look<EcnFlags>> {
    let [(value, count)] = point.tally(probe).flags[..] else { return None };
    let is_same = Some(value) == probe.syn_flags();
    Some(Look { hop: point.hop, value, is_same, count })
}

fn looks<T>(points: &[Point], look: impl Fn(&Point) -> Option<Look<T>>) -> Vec<Look<T>> {
    points.iter().filter_map(look).collect()
}

/// A change that only the last router shows is certain if other packets show it at another point,
/// too.
fn corroborate(findings: &mut [Finding]) {
    let certain: Vec<(Fate, Option<Place>)> =
        findings.iter().filter(|finding| finding.is_certain).map(|f| (f.fate, f.place)).collect();
    for finding in findings.iter_mut().filter(|finding| matches!(finding.fate, Fate::Changed(_))) {
        finding.is_certain |= certain.contains(&(finding.fate, finding.place));
    }
}

/// Whether the SYN-ACK shows that the flags of the SYN arrived.
fn agreed(evidence: &Evidence, probe: Probe) -> Option<bool> {
    let from_host = &evidence.from_host;
    match probe {
        Probe::Syn(Handshake::Classic) => from_host.classic_reply.map(is_classic),
        Probe::Syn(Handshake::Accurate) => {
            from_host.accurate_reply.map(|flags| accurate_codepoint(flags).is_some())
        }
        _ => None,
    }
}

/// A probe can be changed, and then be dropped because of that or for another reason.
fn forward(evidence: &Evidence, probe: Probe) -> Vec<Finding> {
    let points = &evidence.points;
    let finding = |fate, place, is_certain| {
        Some(Finding { probe, direction: Direction::Up, fate, place: Some(place), is_certain })
    };
    let flags = looks(points, |point| flags_look(point, probe));
    let codepoints = looks(points, |point| codepoint_look(point, probe));
    let certain = |at, count| at >= 2 && count >= AGREEING;
    let agreed = agreed(evidence, probe);
    let flag_change = change(&flags).filter(|_| agreed != Some(true)).and_then(|change| {
        let refutes = agreed == Some(false) && change.count >= AGREEING;
        let is_certain = refutes || certain(change.points, change.count);
        finding(Fate::FlagsChanged(change.value), change.place, is_certain)
    });
    let codepoint_change = change(&codepoints).and_then(|change| {
        // The host may show only that it is another codepoint.
        let value = change.value.or_else(|| before_last(&codepoints));
        finding(Fate::Changed(value), change.place, certain(change.points, change.count))
    });
    let refusal = refused(points, probe).and_then(|(place, sure)| finding(Fate::Refused, place, sure));
    let drop = dropped(points, probe).and_then(|(place, sure)| finding(Fate::Dropped, place, sure));
    let problems: Vec<Finding> =
        [flag_change, codepoint_change, refusal.or(drop)].into_iter().flatten().collect();
    if !problems.is_empty() {
        return problems;
    }
    // A SYN is kept if its flags are, as far as routers quote them.
    let last = if matches!(probe, Probe::Syn(_)) {
        flags.last().map(|look| look.hop)
    } else {
        codepoints.last().map(|look| look.hop)
    };
    let kept = last.and_then(|hop| finding(Fate::Kept, Place { after: hop, before: hop }, true));
    let unknown =
        Finding { probe, direction: Direction::Up, fate: Fate::Unknown, place: None, is_certain: false };
    Vec::from([kept.unwrap_or(unknown)])
}

/// The probability that a packet gets no reply at this point, from those of its class that get
/// through.
fn chance_of_loss(point: &Point, probe: Probe) -> f64 {
    let passes = |other: &&Probe| other.class() == probe.class() && point.tally(**other).answered > 0;
    let tallies = PROBES.iter().filter(passes).map(|other| point.tally(*other));
    let (sent, answered) = tallies.fold((0, 0), |sum, tally| (sum.0 + tally.sent, sum.1 + tally.answered));
    f64::from(sent.saturating_sub(answered) + 1) / f64::from(sent + 2)
}

/// The probability that all of these probes were lost by chance.
pub(crate) fn chance_of_silence(point: &Point, probe: Probe) -> f64 {
    let loss = chance_of_loss(point, probe);
    (0..point.tally(probe).sent).fold(1.0, |chance, _| chance * loss)
}

/// Where the probe is lost, and whether chance does not explain it.
fn dropped(points: &[Point], probe: Probe) -> Option<(Place, bool)> {
    let control = probe.control();
    if control == probe {
        return None;
    }
    let heard: Vec<&Point> = points.iter().filter(|point| point.tally(control).answered > 0).collect();
    let silent = heard.iter().rev().take_while(|point| point.tally(probe).answered == 0).count();
    let silent = &heard[heard.len() - silent..];
    if !silent.iter().any(|point| point.tally(probe).sent >= LOST) {
        return None;
    }
    let answered = points.iter().rev().find(|point| point.tally(probe).answered > 0);
    let after = answered.map_or(0, |point| point.hop);
    // It is lost before a point if chance does not explain the silence of the points up to there.
    let mut chance = 1.0;
    for point in silent {
        chance *= chance_of_silence(point, probe);
        if chance < CHANCE {
            return Some((Place { after, before: point.hop }, true));
        }
    }
    Some((Place { after, before: silent.last()?.hop }, false))
}

/// Where the probe is answered by a reset, although the control is not.
fn refused(points: &[Point], probe: Probe) -> Option<(Place, bool)> {
    let is_refused = |point: &&Point| {
        let (tally, control) = (point.tally(probe), point.tally(probe.control()));
        tally.refused > 0 && tally.refused == tally.answered && control.refused == 0 && control.answered > 0
    };
    let first = points.iter().find(is_refused)?;
    let before = points.iter().rev().find(|point| point.hop < first.hop && point.tally(probe).answered > 0);
    let place = Place { after: before.map_or(0, |point| point.hop), before: first.hop };
    let count: u32 = points.iter().map(|point| point.tally(probe).refused).sum();
    Some((place, count >= AGREEING))
}

/// What happens to codepoints on the way back: echo replies show where, data of the host whether.
fn backward(evidence: &Evidence) -> Vec<Finding> {
    let (data, negotiated) = (evidence.from_host.data, evidence.from_host.has_negotiated);
    let total: u32 = data.iter().sum();
    // ACKs and retransmissions are sent without ECT (RFC 3168 section 6.1.4), other data with it.
    let marked = total - data[Ecn::NotEct as usize];
    let is_cleared = evidence.from_host.lacks_ect() && total >= AGREEING;
    let arrives = negotiated && marked > 0;
    let mut findings = Vec::new();
    let mut place = None;
    for probe in PROBES.iter().filter(|probe| probe.class() == Class::Echo) {
        let finding = returned(&evidence.points, *probe, arrives);
        if probe.codepoint() == Ecn::Ect0 && matches!(finding.fate, Fate::Changed(_)) {
            place = finding.place;
        }
        let is_certain =
            finding.fate == Fate::Kept || (is_cleared && finding.place.is_some() && finding.place == place);
        findings.push(Finding { is_certain, ..finding });
    }
    if negotiated && total > 0 {
        let fate = match (arrives, is_cleared) {
            (true, _) => Fate::Kept,
            (false, true) => Fate::Changed(Some(Ecn::NotEct)),
            (false, false) => Fate::Unknown,
        };
        findings.push(Finding {
            probe: Probe::Data(Ecn::Ect0),
            direction: Direction::Down,
            fate,
            place: if fate == Fate::Kept { None } else { place },
            is_certain: fate != Fate::Unknown,
        });
    }
    findings
}

/// The codepoint of echo replies. `arrives`: data of the host keeps ECT, so hosts that do not
/// return the codepoint are the explanation of others.
fn returned(points: &[Point], probe: Probe, arrives: bool) -> Finding {
    let codepoint = probe.codepoint();
    // A request must have arrived unchanged.
    let last_kept = points.iter().rev().find(|point| {
        [Probe::Udp(codepoint), Probe::MarkedSyn(codepoint), Probe::Data(codepoint)]
            .iter()
            .any(|sent| codepoint_look(point, *sent).is_some_and(|look| look.is_same))
    });
    let reach = last_kept.map_or(0, |point| point.hop);
    let looks =
        looks(points, |point| codepoint_look(point, probe).filter(|look| look.is_same || point.hop <= reach));
    let (fate, place) = match (change(&looks), looks.last()) {
        (Some(_), _) if arrives => (Fate::Unknown, None),
        (Some(change), _) => (Fate::Changed(change.value), Some(change.place)),
        (None, Some(last)) => (Fate::Kept, Some(Place { after: last.hop, before: last.hop })),
        (None, None) => (Fate::Unknown, None),
    };
    Finding { probe, direction: Direction::Down, fate, place, is_certain: false }
}

impl Report {
    /// Whether the host agreed to ECN of RFC 3168: its SYN-ACK has ECE without CWR.
    #[must_use]
    pub fn has_classic(&self) -> Option<bool> {
        self.classic_reply.map(is_classic)
    }
    /// The codepoint with which the SYN arrived, if the host agreed to accurate ECN. Source: RFC
    /// 9768 section 3.1.1, table 2.
    #[must_use]
    pub fn accurate_codepoint(&self) -> Option<Ecn> {
        accurate_codepoint(self.accurate_reply?)
    }
    /// The most important of the problems: those that concern more connections come first.
    #[must_use]
    pub fn worst(&self) -> Option<&Finding> {
        self.problems().min_by_key(|finding| finding.importance())
    }
}

/// Whether the flags of a SYN-ACK agree to ECN of RFC 3168.
pub(crate) const fn is_classic(flags: EcnFlags) -> bool {
    flags.0 & !EcnFlags::AE == EcnFlags::ECE
}

/// The codepoint that the flags of a SYN-ACK report. Source: RFC 9768 section 3.1.1, table 2.
pub(crate) const fn accurate_codepoint(flags: EcnFlags) -> Option<Ecn> {
    match flags.0 {
        0b010 => Some(Ecn::NotEct),
        0b011 => Some(Ecn::Ect1),
        0b100 => Some(Ecn::Ect0),
        0b110 => Some(Ecn::Ce),
        _ => None,
    }
}
