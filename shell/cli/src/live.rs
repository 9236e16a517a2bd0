//! Shows a test while it runs: the live picture on a terminal, otherwise one line per phase.
use crate::terminal::{Console, Screen, warn};
use fathom_app::MeasureEvent;
use fathom_client::Event;
use fathom_os::clock::Clock;
use fathom_report::LiveView;
use fathom_run::{Phase, PhaseEnd};
use fathom_units::{Duration, Time};

/// Ten pictures per second look smooth and cost little compared with the measurement.
const REDRAW_EVERY: Duration = Duration::from_millis(100);

/// Shows the measurements of a use case, one after the other.
pub(crate) fn follow(console: Console) -> impl FnMut(MeasureEvent<'_>) + Send {
    let mut live: Option<Live> = None;
    move |event| match event {
        MeasureEvent::Started { title, clock } => live = Some(Live::new(title, clock, console)),
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
    console: Console,
    view: LiveView,
    screen: Option<Screen>,
    next_draw: Time,
}

impl Live {
    pub(crate) fn new(title: &str, clock: Clock, console: Console) -> Self {
        let (view, screen) = (LiveView::new(title), Screen::open(console));
        let live = Live { clock, console, view, screen, next_draw: Time::ZERO };
        live.line(title);
        live
    }

    /// Records one event and redraws if it is time.
    pub(crate) fn on_event(&mut self, event: Event) {
        match event {
            Event::Connected(address) => self.say(&format!("connected to {address}")),
            Event::Cost(cost) => {
                let [up, down] = [cost.up, cost.down].map(|amount| fathom_text::bytes(amount.get() as f64));
                self.say(&format!("transfers at most {up} up and {down} down (Ctrl-C stops)"));
            }
            Event::PhaseStarted { kind, at } => self.view.phase_started(kind, at),
            Event::Observed { key, observation } => self.view.observe(&key, observation),
            Event::Path(_) => {}
            Event::PhaseEnded(phase) => self.phase_ended(&phase),
            Event::BurstsStarted => self.say("checking the buffers with bursts"),
            Event::Note(note) => {
                let text = fathom_prose::note(&note);
                self.view.note(&text);
                // The summary repeats it; with `-q` there is none.
                if self.console.is_quiet() {
                    warn(&text);
                }
            }
        }
        self.draw_if_due();
    }

    fn phase_ended(&mut self, phase: &Phase) {
        self.view.phase_ended(phase.end, Time::from_nanos(phase.end_ns));
        let (name, end) = (phase.kind.name(), reason(phase.end));
        self.line(&format!("{name:<6}{:5.1} s, {end}", phase.seconds()));
    }

    fn say(&mut self, text: &str) {
        self.view.note(text);
        self.line(text);
    }

    /// Writes a line of progress if there is no live picture.
    fn line(&self, text: &str) {
        if self.screen.is_none() {
            self.console.progress(text);
        }
    }

    fn draw_if_due(&mut self) {
        let now = self.clock.now();
        let Some(screen) = self.screen.as_mut().filter(|_| now >= self.next_draw) else { return };
        self.next_draw = now + REDRAW_EVERY;
        screen.draw(|columns, rows, style| self.view.render(now, columns, rows, style));
    }
}

const fn reason(end: PhaseEnd) -> &'static str {
    match end {
        PhaseEnd::Settled => "latency has settled",
        PhaseEnd::TimeLimit => "time limit",
        PhaseEnd::ByteLimit => "data limit",
        PhaseEnd::Aborted => "interrupted",
    }
}
