//! The shaper's counters, and the processors', beside a test.
use fathom_client::Event;
use fathom_os::clock::Clock;
use fathom_os::cpu::{PacketTimes, packet_times};
use fathom_run::{PhaseKind, Series};
use fathom_shaper::{ApplyError, Look, Transaction};
use fathom_tc::{Stats, series_of};
use fathom_units::{Direction, Duration, Time};
use std::collections::BTreeMap;

/// Interval of the shaper's counters between the phases' ends.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Where the series of the shaper stand in a run.
const SCOPE: &str = "shaper";

/// Counters around one phase.
pub(crate) struct Span {
    pub(crate) first: Look,
    pub(crate) last: Look,
    pub(crate) seconds: f64,
    /// The largest share that one processor spent on packets, 0 to 1, where it can be told.
    pub(crate) busiest: Option<f64>,
}

/// The phases with load.
pub(crate) type Spans = BTreeMap<PhaseKind, Span>;

/// Looks at a shaper while a test runs.
pub(crate) struct Beside<'a> {
    transaction: &'a mut Transaction,
    clock: Clock,
    open: Option<(Look, Vec<PacketTimes>)>,
    looked: Option<Time>,
    seen: [Vec<(Time, Stats)>; 2],
    spans: Spans,
    trouble: Option<ApplyError>,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(transaction: &'a mut Transaction, clock: Clock) -> Self {
        let spans = Spans::new();
        Beside {
            transaction,
            clock,
            open: None,
            looked: None,
            seen: Default::default(),
            spans,
            trouble: None,
        }
    }
    /// To be called at each event of the test.
    pub(crate) fn take(&mut self, event: &Event) {
        let now = self.clock.now();
        let is_border = matches!(event, Event::PhaseStarted { .. } | Event::PhaseEnded(_));
        let is_due = self.looked.is_none_or(|looked| now.saturating_since(looked) >= LOOK_EVERY);
        if !is_border && !is_due {
            return;
        }
        self.looked = Some(now);
        match self.transaction.look() {
            Ok(look) => self.keep(now, event, look),
            Err(error) => self.trouble = Some(error),
        }
    }
    fn keep(&mut self, now: Time, event: &Event, look: Look) {
        for (kept, stats) in self.seen.iter_mut().zip([&look.up, &look.down]) {
            kept.extend(stats.iter().map(|stats| (now, stats.clone())));
        }
        match event {
            Event::PhaseStarted { .. } => self.open = Some((look, packet_times().unwrap_or_default())),
            Event::PhaseEnded(phase) if phase.load.is_some() => {
                let Some((first, before)) = self.open.take() else { return };
                let busiest = busiest(&before, &packet_times().unwrap_or_default());
                self.spans.insert(phase.kind, Span { first, last: look, seconds: phase.seconds(), busiest });
            }
            _ => {}
        }
    }
    /// All spans, and what the shaper held and dropped over time.
    ///
    /// # Errors
    /// The look that failed last.
    pub(crate) fn finish(self) -> Result<(Spans, Vec<Series>), ApplyError> {
        let [up, down] = self.seen;
        let mut series = series_of(SCOPE, Direction::Up, &up);
        series.extend(series_of(SCOPE, Direction::Down, &down));
        self.trouble.map_or(Ok((self.spans, series)), Err)
    }
}

fn busiest(before: &[PacketTimes], after: &[PacketTimes]) -> Option<f64> {
    let shares = before.iter().zip(after).filter_map(|(first, last)| {
        let total = last.total.checked_sub(first.total).filter(|ticks| *ticks > 0)?;
        Some(last.packets.saturating_sub(first.packets) as f64 / total as f64)
    });
    shares.max_by(f64::total_cmp)
}
