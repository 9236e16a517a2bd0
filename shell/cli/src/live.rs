//! Follows a test while it runs: the live picture on a terminal, else one line of progress a phase.
use crate::args::When;
use crate::terminal::{self, Screen};
use fathom_app::MeasureEvent;
use fathom_client::Event;
use fathom_os::clock::Clock;
use fathom_report::LiveView;
use fathom_run::{Phase, PhaseEnd};
use fathom_units::{Duration, Time};

/// Ten pictures a second are smooth enough, and cost little beside the measurement.
const REDRAW_EVERY: Duration = Duration::from_millis(100);

/// Shows the measurements of a use case, one after the other.
pub(crate) fn follow(when: When) -> impl FnMut(MeasureEvent<'_>) + Send {
    let mut live: Option<Live> = None;
    move |event| match event {
        MeasureEvent::Started { title, clock } => live = Some(Live::new(title, clock, when)),
        MeasureEvent::Test(event) => {
            if let Some(live) = &mut live {
                live.on_event(event);
            }
        }
        MeasureEvent::Ended => live = None,
    }
}

/// Shows the events of one test.
pub(crate) struct Live {
    clock: Clock,
    view: LiveView,
    screen: Option<Screen>,
    next_draw: Time,
    /// Shown again when the screen is gone.
    notes: Vec<String>,
}

impl Live {
    pub(crate) fn new(title: &str, clock: Clock, when: When) -> Self {
        let (view, screen) = (LiveView::new(title), Screen::open(when));
        if screen.is_none() {
            terminal::note(title);
        }
        Live { clock, view, screen, next_draw: Time::ZERO, notes: Vec::new() }
    }

    /// Takes in one event and redraws if it is time.
    pub(crate) fn on_event(&mut self, event: Event) {
        match event {
            Event::Connected { address, .. } => self.say(&format!("connected to {address}")),
            Event::Cost(cost) => {
                self.say(&format!("will move at most {} up and {} down (Ctrl-C stops)", cost.up, cost.down));
            }
            Event::PhaseStarted { kind, at } => self.view.phase_started(kind, at),
            Event::Observed { key, observation } => self.view.observe(&key, observation),
            Event::PhaseEnded(phase) => self.phase_ended(&phase),
            Event::Note(note) => {
                let text = fathom_prose::note(&note);
                self.say(&text);
                self.notes.push(text);
            }
        }
        self.draw_if_due();
    }

    fn phase_ended(&mut self, phase: &Phase) {
        self.view.phase_ended(phase.end, Time::from_nanos(phase.end_ns));
        if self.screen.is_none() {
            terminal::note(&format!(
                "{:<6}{:5.1} s, {}",
                phase.kind.name(),
                phase.seconds(),
                reason(phase.end)
            ));
        }
    }

    fn say(&mut self, text: &str) {
        self.view.note(text);
        if self.screen.is_none() {
            terminal::note(text);
        }
    }

    fn draw_if_due(&mut self) {
        let now = self.clock.now();
        let Some(screen) = self.screen.as_mut().filter(|_| now >= self.next_draw) else { return };
        self.next_draw = now + REDRAW_EVERY;
        screen.draw(|columns, rows, style| self.view.render(now, columns, rows, style));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // The screen goes first, and its notes with it.
        if self.screen.take().is_some() {
            self.notes.iter().for_each(|text| terminal::note(text));
        }
    }
}

const fn reason(end: PhaseEnd) -> &'static str {
    match end {
        PhaseEnd::Settled => "settled",
        PhaseEnd::TimeLimit => "time limit",
        PhaseEnd::ByteLimit => "byte limit",
        PhaseEnd::Aborted => "cut short",
    }
}
