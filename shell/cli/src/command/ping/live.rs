//! The table of a running ping.
use crate::terminal::Screen;
use fathom_client::{PingConfig, PingEvent, PingTally};
use fathom_os::clock::Clock;
use fathom_report::{PingCounts, PingView};
use fathom_units::{Duration, Time};

/// Ten pictures per second look smooth and cost little.
const REDRAW_EVERY: Duration = Duration::from_millis(100);

pub(super) struct Live {
    clock: Clock,
    screen: Screen,
    view: PingView,
    next_draw: Time,
}

impl Live {
    pub(super) fn new(screen: Screen, names: &[String], config: &PingConfig) -> Self {
        let view = PingView::new(names, config.interval);
        Live { clock: config.clock, screen, view, next_draw: Time::ZERO }
    }
    /// Records an event and redraws if it is time.
    pub(super) fn take(&mut self, event: &PingEvent, tallies: &[PingTally]) {
        match event {
            PingEvent::Sent { target, at } => self.view.sent(*target, *at),
            PingEvent::Reply { target, reply, .. } if reply.reply.is_first() => {
                self.view.answered(*target, reply.sent, reply.reply.delay);
            }
            _ => {}
        }
        let now = self.clock.now();
        if now >= self.next_draw {
            self.next_draw = now + REDRAW_EVERY;
            let counts: Vec<PingCounts> = tallies.iter().map(counts).collect();
            self.screen.draw(|columns, rows, style| self.view.render(now, &counts, (columns, rows), style));
        }
    }
    /// A line below the table.
    pub(super) fn note(&mut self, text: &str) {
        self.view.note(text);
    }
}

fn counts(tally: &PingTally) -> PingCounts {
    PingCounts {
        sent: tally.sent,
        received: tally.received,
        irregular: tally.late + tally.duplicates + tally.reordered,
        mean_s: tally.mean_s(),
        max_s: tally.max.as_secs_f64(),
    }
}
