//! Converts the workloads of a plan to units.
use crate::net::{Edge, Net};
use crate::packet::{END, Part};
use crate::unit::{Incast, Me, Page, Peer, Purpose, Rpc, Segments, Source, Transfer, Unit, Viewer};
use crate::world::{ControlChoice, Profile};
use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_run::DatagramLog;
use fathom_run::Note;
use fathom_scenario::{
    CALL_EVERY, LoadPlan, PageLoad, Plan, Playback, START_WITHIN, Timetable, WorkloadKind, WorkloadPlan,
};
use fathom_tcp::{ControlKind, ControlPluginParams, ReceiverConfig, SenderConfig};
use fathom_units::{Bytes, Direction, Duration, Rng, Time};

/// A unit with its start and stop times.
pub(crate) struct Planned {
    pub(crate) unit: Unit,
    pub(crate) me: Me,
    pub(crate) start: Time,
    pub(crate) stop: Time,
}

/// All traffic of a run.
pub(crate) struct Expanded {
    pub(crate) workloads: Vec<WorkloadPlan>,
    pub(crate) units: Vec<Planned>,
    pub(crate) notes: Vec<Note>,
}

/// The units of the workloads of `plan` and of its `[load]`.
pub(crate) fn expand(plan: &Plan, net: &mut Net, seed: u64) -> Expanded {
    let mut notes = Vec::new();
    let mut workloads =
        plan.load.as_ref().map_or_else(Vec::new, |load| bulk(load, &plan.controls, &mut notes));
    workloads.extend(plan.workloads.iter().cloned());
    let mut rng = Rng::stream(seed, "start");
    let mut units: Vec<Planned> = Vec::new();
    let begin = Time::ZERO + plan.run.idle;
    let end = begin + plan.run.duration;
    for (number, workload) in workloads.iter().enumerate() {
        let of_workload = self::units(workload, &plan.controls, net, &mut rng);
        let (start, stop) = (begin + workload.start, workload.stop.map_or(end, |stop| begin + stop).min(end));
        for (nth, unit) in of_workload.into_iter().enumerate() {
            let me = Me { unit: units.len() as u32, workload: number as u32 };
            let late = if nth == 0 { 0 } else { rng.below(START_WITHIN.as_nanos()) };
            let start = start + Duration::from_nanos(late);
            if start < stop {
                units.push(Planned { unit, me, start, stop });
            }
        }
    }
    Expanded { workloads, units, notes }
}

/// Converts `[load]` to workloads.
fn bulk(load: &LoadPlan, controls: &[ControlPluginParams], notes: &mut Vec<Note>) -> Vec<WorkloadPlan> {
    let mut workloads = load.workloads();
    let asked = &load.congestion_control;
    let is_plugin = controls.iter().any(|control| control.name() == asked);
    if !is_plugin && asked.parse::<ControlKind>().is_err() {
        notes.push(Note::CongestionControlNotSimulated { requested: asked.clone() });
        workloads
            .iter_mut()
            .for_each(|workload| "cubic".clone_into(&mut workload.transport.congestion_control));
    }
    workloads
}

/// The units of one workload.
pub(crate) fn units(
    workload: &WorkloadPlan,
    controls: &[ControlPluginParams],
    net: &mut Net,
    phase: &mut Rng,
) -> Vec<Unit> {
    WorkloadUnits { workload, controls, net, phase }.units()
}

/// Creates the units of one workload.
struct WorkloadUnits<'a> {
    workload: &'a WorkloadPlan,
    controls: &'a [ControlPluginParams],
    net: &'a mut Net,
    phase: &'a mut Rng,
}

impl WorkloadUnits<'_> {
    fn units(&mut self) -> Vec<Unit> {
        match self.workload.kind {
            WorkloadKind::Incast { block, interval, spread } => {
                Vec::from([self.incast(block, interval, spread)])
            }
            _ => (0..self.workload.flows).flat_map(|nth| self.nth(nth)).collect(),
        }
    }
    fn nth(&mut self, nth: u32) -> Vec<Unit> {
        let (profile, direction) = (self.profile(nth), self.workload.direction);
        let unit = match self.workload.kind {
            WorkloadKind::Bulk { bytes } => {
                let bytes = bytes.map(Bytes::get);
                Unit::Transfer(Transfer { profile, direction, bytes, flow: None, timing: None })
            }
            WorkloadKind::Swarm { churn } => Unit::Peer(Peer { profile, direction, churn, flow: None }),
            WorkloadKind::Web(plan) => {
                let (channels, load, began) = (Vec::new(), PageLoad::new(&plan), Time::ZERO);
                Unit::Page(Page { profile, plan, channels, load, began, timing: 0 })
            }
            WorkloadKind::Rpc { request, response, interval } => {
                let (request, response) = (request.get(), response.get());
                Unit::Rpc(Rpc {
                    profile,
                    request,
                    response,
                    interval,
                    channel: None,
                    began: Time::ZERO,
                    timing: 0,
                })
            }
            WorkloadKind::Segments { rate, every } => Unit::Segments(Segments {
                profile,
                direction,
                rate,
                every,
                flow: None,
                under_way: VecDeque::new(),
            }),
            WorkloadKind::Adaptive(plan) => Unit::Viewer(Viewer {
                profile,
                playback: Playback::new(plan),
                channel: None,
                segment_bytes: 0,
                nth,
            }),
            WorkloadKind::Camera { .. } => {
                return self.source(profile, direction, (nth, Purpose::Camera), Time::ZERO);
            }
            WorkloadKind::Datagrams { .. } => {
                return self.source(profile, direction, (nth, Purpose::Fill), Time::ZERO);
            }
            WorkloadKind::Call => return self.both_ways(&profile, CALL_EVERY, (nth, Purpose::Call)),
            WorkloadKind::Game { interval, deadline, .. } => {
                return self.both_ways(&profile, interval, (nth, Purpose::Game(deadline)));
            }
            WorkloadKind::Incast { .. } => return Vec::new(),
        };
        Vec::from([unit])
    }
    /// One sender up and one down, with random phases.
    fn both_ways(&mut self, profile: &Profile, every: Duration, which: (u32, Purpose)) -> Vec<Unit> {
        let one = |direction| {
            let late = Duration::from_nanos(self.phase.below(every.as_nanos()));
            self.source(profile.clone(), direction, which, Time::ZERO + late)
        };
        Direction::BOTH.into_iter().flat_map(one).collect()
    }
    /// Sends from `first` or from its start, whichever is later.
    fn source(
        &self,
        profile: Profile,
        direction: Direction,
        (nth, purpose): (u32, Purpose),
        first: Time,
    ) -> Vec<Unit> {
        let timetable = Timetable::new(self.workload.kind, first);
        let source = timetable.map(|timetable| Source {
            profile,
            direction,
            timetable,
            purpose,
            nth,
            flow: None,
            sent: 0,
            log: DatagramLog::default(),
        });
        source.map(Unit::Source).into_iter().collect()
    }
    fn incast(&mut self, block: Bytes, interval: Duration, spread: Duration) -> Unit {
        let profiles = (0..self.workload.flows).map(|nth| self.profile(nth)).collect();
        Unit::Incast(Incast {
            profiles,
            direction: self.workload.direction,
            block: block.get(),
            interval,
            spread,
            flows: Vec::new(),
            delayed: VecDeque::new(),
            waiting: 0,
            began: Time::ZERO,
            timing: 0,
        })
    }
    fn profile(&mut self, nth: u32) -> Profile {
        let (transport, edge) = (&self.workload.transport, &self.workload.edge);
        let usual = (SenderConfig::default(), ReceiverConfig::default());
        let extra = edge.extra_rtt.get(nth as usize % edge.extra_rtt.len().max(1)).copied();
        Profile {
            sender: SenderConfig {
                ecn: transport.ecn,
                initial_window: transport.initial_window.unwrap_or(usual.0.initial_window),
                min_rto: transport.min_rto.unwrap_or(usual.0.min_rto),
                paced: transport.pacing,
                ..usual.0
            },
            receiver: ReceiverConfig {
                window: transport.window.map_or(usual.1.window, Bytes::get),
                ..usual.1
            },
            control: ControlChoice::named(&transport.congestion_control, self.controls),
            edge: Edge {
                pipe: extra.and_then(|extra| self.net.pipe(extra)),
                access: edge.access_rate.map(|rate| self.net.access(rate)),
                part: self.part(),
            },
            dscp: edge.dscp,
            host: edge.first_host + (nth % u32::from(edge.hosts.max(1))) as u8,
        }
    }
    /// The part of the line that the flows cross; at most [`fathom_scenario::MAX_HOPS`] hops.
    fn part(&self) -> Part {
        let Some((from, to)) = self.workload.edge.hops else { return Part::default() };
        let router = |hop: usize| u8::try_from(hop).unwrap_or(END);
        let is_last = to + 1 >= self.net.line.len();
        Part { near: from.checked_sub(1).map_or(END, router), far: if is_last { END } else { router(to) } }
    }
}
