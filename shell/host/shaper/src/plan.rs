//! The plan of a fix: steps with the equivalent commands, and their undo commands.
use crate::Framing;
use crate::ability::Abilities;
use crate::error::ApplyError;
use crate::restore::tree;
use crate::shaper::{Shaper, ShaperKind, redirect};
use crate::snapshot::Snapshot;
use crate::state::OwnObjects;
use fathom_tc::{Handle, Kind, Link, Match, Qdisc, Request, Verb, What, ifb_name};
use fathom_units::{Duration, Rate};

/// A request for a shaper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeRequest {
    /// The interface.
    pub device: String,
    /// Egress rate; `None` leaves egress unshaped.
    pub up: Option<Rate>,
    /// Ingress rate; `None` leaves ingress unshaped.
    pub down: Option<Rate>,
    /// Type of shaper; `None` chooses the best available.
    pub shaper: Option<ShaperKind>,
    /// Packet framing.
    pub framing: Framing,
    /// Round-trip time of the paths, if it exceeds the 100 ms that shapers assume.
    pub round_trip: Option<Duration>,
}

/// From this rate on, one CPU core may be too slow, so the shaper is spread over queues. Below it,
/// a single CAKE is fairer: spread over queues, fairness holds only within each. Our own choice; a
/// router's CPU shapes a few hundred Mbit/s.
const SPREAD_FROM: Rate = Rate::from_bits_per_second(500_000_000);

impl ShapeRequest {
    /// Whether to spread the shaper over the interface's `queues`.
    fn may_spread(&self, queues: u32) -> bool {
        queues > 1 && self.up.max(self.down) >= Some(SPREAD_FROM)
    }
}

/// Requests that belong together and are applied in one go.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The purpose of the step.
    pub does: String,
    /// Requests that apply it.
    pub requests: Vec<Request>,
    /// Requests that undo it.
    pub undo: Vec<Request>,
}

/// A shaper and its interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// The interface that carries the qdisc; for ingress, an ifb.
    pub device: String,
    /// Major number of its root; the next one may be in use too.
    pub major: u16,
    /// The shaper.
    pub shaper: Shaper,
}

/// All steps in order: no packet is sent to a shaper before it exists.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The interface.
    pub device: String,
    /// Type of shaper.
    pub kind: ShaperKind,
    /// Egress.
    pub up: Option<Side>,
    /// Ingress.
    pub down: Option<Side>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Interfaces that it creates.
    pub made: Vec<String>,
}

/// Link types with an Ethernet header. Source: linux/if_arp.h.
const ETHERNET: u16 = 1;
pub(crate) const ETHERNET_HEADER_BYTES: u16 = 14;

impl Plan {
    /// Plans the changes to an interface in the state `now`.
    ///
    /// # Errors
    /// What the kernel lacks, or which part of the request is impossible.
    pub fn make(
        request: &ShapeRequest,
        now: &Snapshot,
        links: &[Link],
        can: &Abilities,
    ) -> Result<Plan, ApplyError> {
        let refuse = |words: String| ApplyError::words(format!("plan for {}", request.device), words);
        let link = links.iter().find(|link| link.index == now.index);
        let queues = link.map_or(1, |link| link.transmit_queues);
        let kind = can.choose(request.shaper, request.may_spread(queues)).map_err(refuse)?;
        if kind == ShaperKind::CakeMq && queues < 2 {
            return Err(refuse(format!(
                "{kind} needs several queues, but {} has one\n  try: --shaper cake",
                request.device
            )));
        }
        let header_bytes = match link {
            Some(link) if link.link_layer == ETHERNET => ETHERNET_HEADER_BYTES,
            _ => 0,
        };
        let frame_bytes = link.map_or(0, |link| link.mtu.saturating_add(header_bytes.into()));
        let shaper = |rate, ingress| Shaper {
            kind,
            rate,
            framing: request.framing,
            header_bytes,
            frame_bytes,
            ingress,
            round_trip: request.round_trip,
        };
        let mut plan = Plan {
            device: request.device.clone(),
            kind,
            up: None,
            down: None,
            steps: Vec::new(),
            made: Vec::new(),
        };
        let redirected = request.down.map(|rate| {
            let matches = can
                .redirect
                .clone()
                .map_err(|why| refuse(format!("cannot shape ingress: {why}\n  try: omit --down")))?;
            Ok::<_, ApplyError>((plan.add_ifb(links, shaper(rate, true), queues), matches))
        });
        let redirected = redirected.transpose()?;
        if let Some(rate) = request.up {
            plan.add_root(now, shaper(rate, false)).map_err(refuse)?;
        }
        if let Some((ifb, matches)) = redirected {
            plan.add_redirect(now, &ifb, matches).map_err(refuse)?;
        }
        Ok(plan)
    }
    /// Creates an ifb, with one queue per queue of the shaper, and shapes ingress on it.
    fn add_ifb(&mut self, links: &[Link], shaper: Shaper, queues: u32) -> String {
        const MAJOR: u16 = 1;
        let queues = if self.kind == ShaperKind::CakeMq { queues } else { 1 };
        let name = free_name(&self.device, links);
        let up = Request::SetLink { name: name.clone(), up: Some(true), queue_packets: None };
        self.steps.push(Step {
            does: format!("create the interface {name}, whose queue shapes ingress"),
            requests: vec![Request::AddIfb { name: name.clone(), queues }, up],
            undo: vec![Request::DeleteLink { name: name.clone() }],
        });
        self.steps.push(Step {
            does: format!("shape ingress to {} with {}", shaper.rate, shaper.kind),
            requests: shaper.requests(&name, MAJOR),
            undo: vec![Request::DeleteQdisc { device: name.clone(), parent: Handle::ROOT, kind: None }],
        });
        self.made.push(name.clone());
        self.down = Some(Side { device: name.clone(), major: MAJOR, shaper });
        name
    }
    /// Shapes egress with a new root qdisc.
    fn add_root(&mut self, now: &Snapshot, shaper: Shaper) -> Result<(), String> {
        let major = free_major(now).ok_or("no free qdisc handle")?;
        let mut undo =
            vec![Request::DeleteQdisc { device: self.device.clone(), parent: Handle::ROOT, kind: None }];
        undo.extend(tree(now).concat());
        self.steps.push(Step {
            does: format!("shape egress to {} with {}", shaper.rate, shaper.kind),
            requests: shaper.requests(&self.device, major),
            undo,
        });
        self.up = Some(Side { device: self.device.clone(), major, shaper });
        Ok(())
    }
    /// Redirects ingress to the ifb. This step is last, because from then on packets take that
    /// path.
    fn add_redirect(&mut self, now: &Snapshot, ifb: &str, matches: Match) -> Result<(), String> {
        let (parent, priority) = match now.ingress() {
            None => {
                self.add_ingress();
                (Handle::INGRESS_QDISC, 1)
            }
            Some(there) => (hook(&there.kind()), free_priority(now)?),
        };
        let device = self.device.clone();
        self.steps.push(Step {
            does: format!("redirect ingress to {ifb}"),
            requests: vec![redirect(&device, parent, priority, matches, ifb)],
            undo: vec![Request::DeleteFilter { device, parent, priority }],
        });
        Ok(())
    }
    fn add_ingress(&mut self) {
        let qdisc =
            Qdisc { parent: Handle::INGRESS, handle: Handle::INGRESS_QDISC, kind: Kind::Ingress, stab: None };
        let device = self.device.clone();
        self.steps.push(Step {
            does: "add a qdisc for ingress filters".to_owned(),
            requests: vec![Request::Qdisc { verb: Verb::Add, device: device.clone(), qdisc }],
            undo: vec![Request::DeleteQdisc { device, parent: Handle::INGRESS, kind: Some("ingress") }],
        });
    }
    /// What the plan adds to its interface.
    pub(crate) fn own(&self) -> OwnObjects {
        let majors = self.up.iter().flat_map(|side| side.major..side.major + Shaper::MAJORS).collect();
        let requests = self.steps.iter().flat_map(|step| &step.undo);
        let filter = requests.into_iter().find_map(|request| match request {
            Request::DeleteFilter { parent, priority, .. } => Some((parent.0, *priority)),
            _ => None,
        });
        OwnObjects { majors, filter }
    }
    /// Both sides, up first.
    pub fn sides(&self) -> impl Iterator<Item = &Side> {
        self.up.iter().chain(&self.down)
    }
}

/// The parent of ingress filters.
fn hook(kind: &str) -> Handle {
    if kind == "clsact" { Handle::CLSACT_INGRESS } else { Handle::INGRESS_QDISC }
}

/// A priority after all existing filters, so that they keep their packets.
fn free_priority(now: &Snapshot) -> Result<u16, String> {
    let turns = now.of(What::Filter, true).map(|o| (o.header.info >> 16) as u16);
    let last = turns.max().unwrap_or(0);
    last.checked_add(1).ok_or_else(|| "no free priority for an ingress filter".to_owned())
}

/// A major number that people seldom use and the kernel does not assign (it starts at 8000).
fn free_major(now: &Snapshot) -> Option<u16> {
    const FIRST: u16 = 0xfa0;
    (FIRST..0x7ff0)
        .step_by(usize::from(Shaper::MAJORS))
        .find(|first| (*first..first + Shaper::MAJORS).all(|major| !now.has_major(major)))
}

/// `ifb-` and as much of the interface's name as fits; with a number if the name is taken.
fn free_name(device: &str, links: &[Link]) -> String {
    let is_free = |name: &String| links.iter().all(|link| link.name != *name);
    (0..).map(|number| ifb_name(device, number)).find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues, up and down rate in Mbit/s, and the choice if the kernel supports everything.
    const CHOICES: [(u32, u64, u64, ShaperKind); 5] = [
        (1, 900, 900, ShaperKind::Cake),
        (4, 40, 499, ShaperKind::Cake),
        (4, 40, 500, ShaperKind::CakeMq),
        (4, 500, 0, ShaperKind::CakeMq),
        (2, 0, 10, ShaperKind::Cake),
    ];

    #[test]
    fn only_what_is_fast_is_spread_over_queues() {
        let can = Abilities {
            kinds: ShaperKind::ALL.map(|kind| (kind, Ok(()))).to_vec(),
            redirect: Ok(Match::All),
        };
        let rate = |mbit: u64| (mbit > 0).then(|| Rate::from_bits_per_second(mbit * 1_000_000));
        for (queues, up, down, expected) in CHOICES {
            let [up, down] = [up, down].map(rate);
            let request = ShapeRequest {
                device: "eth0".into(),
                up,
                down,
                shaper: None,
                framing: Framing::default(),
                round_trip: None,
            };
            assert_eq!(can.choose(None, request.may_spread(queues)), Ok(expected), "{queues}: {request:?}");
        }
        assert_eq!(can.choose(Some(ShaperKind::CakeMq), false), Ok(ShaperKind::CakeMq));
    }
}
