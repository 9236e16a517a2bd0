//! No sequence of events makes a control overflow or set an unusable window or threshold.
use fathom_tcp::{
    AckEvent, AnyControl, Cause, Control, ControlConfig, ControlKind, RateSample, Recovery, Window,
    WindowEvent,
};
use fathom_units::{Duration, Rng, Time};

struct Storm {
    rng: Rng,
    now: Time,
    delivered: u64,
    next: u64,
    marked: u64,
    lost: u32,
}

impl Storm {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.below(of.len() as u64) as usize]
    }
    /// From zero to hours, mostly short.
    fn duration(&mut self) -> Duration {
        let bits = self.rng.below(44);
        Duration::from_nanos(self.rng.below(1 << bits))
    }
    fn rate(&mut self, losses: u32) -> Option<RateSample> {
        let delivered = self.rng.below(self.delivered.min(100_000) + 1);
        let interval = self.duration();
        self.rng.chance(0.9).then(|| RateSample {
            delivered: delivered as u32,
            interval,
            prior_delivered: self.delivered - delivered,
            is_app_limited: self.rng.chance(0.2),
            losses,
        })
    }
    fn ack(&mut self) -> AckEvent {
        let newly_acked = self.rng.below(70) as u32;
        self.delivered += u64::from(newly_acked);
        let ece = self.rng.chance(0.1);
        self.marked += if ece { u64::from(newly_acked) } else { 0 };
        self.next = self.next.max(self.delivered) + self.rng.below(70);
        let in_flight = (self.next - self.delivered) as u32;
        let losses = self.pick(&[0, 0, 0, 1, 50]);
        self.lost = self.lost.wrapping_add(losses);
        let rtt = self.duration();
        AckEvent {
            now: self.now,
            newly_acked,
            cumulative: self.rng.below(u64::from(newly_acked) + 1) as u32,
            ece,
            rtt: self.rng.chance(0.9).then_some(rtt),
            srtt: self.duration(),
            min_rtt: self.duration(),
            one_way_delay: self.duration(),
            in_flight_before: in_flight + newly_acked,
            in_flight,
            delivered: self.delivered,
            lost: self.lost,
            delivered_ce: self.marked,
            next_packet: self.next,
            acked_packet: self.delivered,
            recovery: self.pick(&[
                Recovery::Open,
                Recovery::Open,
                Recovery::Disorder,
                Recovery::Cwr,
                Recovery::Recovery,
                Recovery::Loss,
            ]),
            is_cwnd_limited: self.rng.chance(0.8),
            paced_until: self.now + self.duration(),
            rate: self.rate(losses),
        }
    }
    fn blow(&mut self, control: &mut AnyControl, window: &mut Window) {
        match self.rng.below(41) {
            0 => {
                let cause = self.pick(&[Cause::Loss, Cause::Ecn, Cause::Timeout]);
                window.ssthresh = control.reduce(cause, self.now, window);
                window.cwnd = if cause == Cause::Timeout { 1 } else { window.cwnd.min(window.ssthresh) };
            }
            1 => {
                let elapsed = self.now.saturating_since(Time::ZERO).as_nanos();
                let idle = Duration::from_nanos(self.rng.below(elapsed + 1));
                control.on_event(WindowEvent::Start { idle }, self.now, window);
            }
            2 => control.on_event(WindowEvent::Recovered, self.now, window),
            3 => control.on_event(WindowEvent::Undone, self.now, window),
            4 => control.on_event(WindowEvent::TimedOut, self.now, window),
            _ => control.on_ack(&self.ack(), window),
        }
    }
}

#[test]
fn windows_stay_usable_in_a_storm_of_events() {
    for kind in ControlKind::ALL {
        for seed in 0..60 {
            let granularity = Duration::from_millis([1, 4, 10][seed as usize % 3]);
            let config = ControlConfig { granularity, seed, ..ControlConfig::default() };
            let mut control = AnyControl::new(*kind, &config);
            let mut window = Window { cwnd: 10, ssthresh: u32::MAX, pacing: None };
            let rng = Rng::stream(seed, "storm");
            let mut storm = Storm { rng, now: Time::ZERO, delivered: 0, next: 10, marked: 0, lost: 0 };
            for step in 0..3_000 {
                let gap = storm.duration() / 16;
                storm.now += gap;
                storm.blow(&mut control, &mut window);
                let place = format!("{kind}, seed {seed}, step {step}: {window:?}");
                assert!(window.cwnd >= 1 && window.ssthresh >= 2, "{place}");
                assert!(window.cwnd < 10_000_000, "{place}");
            }
        }
    }
}
