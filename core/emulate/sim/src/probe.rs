//! Probes as `fathom test` sends them: UDP and ICMP, from the user to the server and back.
use crate::packet::{Body, END, Label, Packet, Part};
use alloc::vec::Vec;
use fathom_probe::{ProbeKind, ProbeSeries};
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Direction, Duration, Time};

/// IP length: a UDP probe of 64 bytes (docs/protocol.md), and an ICMP echo request of 56.
const UDP_LEN: u16 = 92;
const ICMP_LEN: u16 = 84;
/// Flow numbers of probes: the last two, since they belong to no workload.
const FIRST_FLOW: u32 = u32::MAX - 1;

/// One-way delays of a probe, as far as it got.
#[derive(Clone, Copy, Default)]
struct OneWay {
    up: Option<Duration>,
    down: Option<Duration>,
}

/// Probes of one kind.
struct KindProbes {
    round_trips: ProbeSeries,
    /// By sequence number.
    one_way: Vec<OneWay>,
}

/// Probes of both kinds; 0 is UDP, 1 ICMP.
pub(crate) struct Probes {
    kinds: [KindProbes; 2],
    /// Answers since the last query, if anybody wants them.
    answers: Option<Vec<Answer>>,
}

/// An answered probe: its kind, and when it was sent, reached the server, and came back.
pub(crate) struct Answer {
    pub(crate) kind: ProbeKind,
    pub(crate) sent: Time,
    pub(crate) reached: Time,
    pub(crate) received: Time,
}

impl Default for Probes {
    fn default() -> Self {
        let kinds = [Metric::UdpRtt, Metric::IcmpRtt].map(|metric| KindProbes {
            round_trips: ProbeSeries::new(SeriesKey::of(metric)),
            one_way: Vec::new(),
        });
        Probes { kinds, answers: None }
    }
}

impl Probes {
    /// Creates the next probe of a kind.
    pub(crate) fn send(&mut self, kind: u32, now: Time) -> Packet {
        let is_icmp = kind == 1;
        let probes = &mut self.kinds[usize::from(is_icmp)];
        probes.one_way.push(OneWay::default());
        let number = probes.round_trips.sent(now);
        let body = Body::Probe { number, is_icmp, sent_at: now, reached_at: None };
        label(is_icmp, Direction::Up).probe(body, len(is_icmp))
    }
    /// A probe reaches the server, which answers at once, or its answer reaches the user.
    pub(crate) fn arrived(&mut self, packet: &Packet, now: Time) -> Option<Packet> {
        let Body::Probe { number, is_icmp, sent_at, reached_at } = packet.body() else { return None };
        let probes = &mut self.kinds[usize::from(is_icmp)];
        let one_way = probes.one_way.get_mut(number as usize)?;
        let Some(reached) = reached_at else {
            one_way.up.get_or_insert(now - sent_at);
            let body = Body::Probe { number, is_icmp, sent_at, reached_at: Some(now) };
            return Some(label(is_icmp, Direction::Down).probe(body, len(is_icmp)));
        };
        if probes.round_trips.reply(number, now).is_some() {
            one_way.down = Some(now - reached);
            let kind = if is_icmp { ProbeKind::Icmp } else { ProbeKind::Udp };
            self.answers
                .iter_mut()
                .for_each(|answers| answers.push(Answer { kind, sent: sent_at, reached, received: now }));
        }
        None
    }
    /// Keeps answers for [`Probes::take_answers`] from now on.
    pub(crate) fn report(&mut self) {
        self.answers = Some(Vec::new());
    }
    pub(crate) fn take_answers(&mut self) -> Vec<Answer> {
        self.answers.as_mut().map(core::mem::take).unwrap_or_default()
    }
    /// When the oldest unanswered probe of a kind was sent.
    pub(crate) fn oldest(&self, kind: ProbeKind) -> Option<Time> {
        let number = match kind {
            ProbeKind::Udp => 0,
            ProbeKind::Icmp => 1,
            ProbeKind::Connect
            | ProbeKind::Persistent
            | ProbeKind::Tls
            | ProbeKind::Http3
            | ProbeKind::Dns
            | ProbeKind::Gateway
            | ProbeKind::Hop
            | ProbeKind::UdpBackground
            | ProbeKind::UdpExpedited => return None,
        };
        self.kinds[number].round_trips.oldest_outstanding()
    }
    /// Number of unanswered probes.
    pub(crate) fn outstanding(&self) -> usize {
        self.kinds.iter().map(|probes| probes.round_trips.outstanding()).sum()
    }
    /// RTTs of both kinds, one-way delays of UDP. Unanswered probes are censored at `end`.
    pub(crate) fn series(&self, end: Time) -> Vec<Series> {
        let [udp, icmp] = &self.kinds;
        let (up, down) = (Direction::Up, Direction::Down);
        Vec::from([
            udp.round_trips.clone().close(end),
            icmp.round_trips.clone().close(end),
            udp.one_way_series(up, end, |delays| Some(delays.up)),
            // The way back of a probe is unknown if it did not reach the server.
            udp.one_way_series(down, end, |delays| delays.up.map(|_| delays.down)),
        ])
    }
}

impl KindProbes {
    fn one_way_series(
        &self,
        direction: Direction,
        end: Time,
        delay: impl Fn(&OneWay) -> Option<Option<Duration>>,
    ) -> Series {
        let mut series = Series::new(SeriesKey::directed(Metric::OneWayDelay, direction));
        for (sent, delays) in self.round_trips.sent_times().zip(&self.one_way) {
            let Some(delay) = delay(delays) else { continue };
            let value = match delay {
                Some(delay) => Value::Observed(delay.as_secs_f64()),
                None => Value::Censored { at_least: end.saturating_since(sent).as_secs_f64() },
            };
            series.push(Observation { at: sent, value });
        }
        series
    }
}

const fn len(is_icmp: bool) -> u16 {
    if is_icmp { ICMP_LEN } else { UDP_LEN }
}

const fn label(is_icmp: bool, travel: Direction) -> Label {
    let part = Part { near: END, far: END };
    Label { flow: FIRST_FLOW + is_icmp as u32, dscp: 0, host: 0, travel, part }
}
