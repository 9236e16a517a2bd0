//! Observes the Wi-Fi of this host during a test, where it leads to the server.
use crate::{AccessPoint, WifiReader};
use fathom_os::clock::Clock;
use fathom_os::next_hop::next_hop;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Direction, Time};
use std::net::IpAddr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval of readings: drivers update their statistics about as often.
const EVERY: Duration = Duration::from_secs(1);

/// A thread that reads the state of the interface to a server.
pub struct WifiObserver {
    stop: Sender<()>,
    thread: JoinHandle<Vec<(Time, AccessPoint)>>,
}

impl WifiObserver {
    /// `None` if the interface to `server` is none of Wi-Fi.
    pub fn start(server: IpAddr, clock: Clock) -> Option<Self> {
        let (_, interface) = next_hop(server).ok()?;
        let reader = WifiReader::open(interface).ok().filter(|reader| reader.read().is_some())?;
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut all = Vec::new();
            loop {
                all.extend(reader.read().map(|state| (clock.now(), state)));
                if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    return all;
                }
            }
        });
        Some(WifiObserver { stop, thread })
    }
    /// What was observed.
    pub fn finish(self) -> Vec<Series> {
        drop(self.stop);
        series(&self.thread.join().unwrap_or_default())
    }
}

fn push(series: &mut Series, at: Time, value: Option<f64>) {
    if let Some(value) = value {
        series.push(Observation { at, value: Value::Observed(value) });
    }
}

fn series(states: &[(Time, AccessPoint)]) -> Vec<Series> {
    let of = |key, value: fn(&AccessPoint) -> Option<f64>| {
        let mut series = Series::new(key);
        for (at, state) in states {
            push(&mut series, *at, value(state));
        }
        series
    };
    let bitrate = |direction| SeriesKey::directed(Metric::WifiBitrate, direction);
    let mut retries = Series::new(SeriesKey::of(Metric::WifiRetries));
    for pair in states.windows(2) {
        let [(_, before), (at, after)] = pair else { continue };
        let counts = before.sent_and_retries.zip(after.sent_and_retries);
        let more = counts.map(|(old, new)| (new.0.wrapping_sub(old.0), new.1.wrapping_sub(old.1)));
        let ratio =
            more.filter(|(sent, _)| *sent > 0).map(|(sent, again)| f64::from(again) / f64::from(sent));
        push(&mut retries, *at, ratio);
    }
    let all = [
        of(SeriesKey::of(Metric::WifiSignal), |state| state.signal_dbm.map(f64::from)),
        of(bitrate(Direction::Up), |state| state.sent_bits_per_second.map(|bits| bits as f64)),
        of(bitrate(Direction::Down), |state| state.received_bits_per_second.map(|bits| bits as f64)),
        retries,
    ];
    all.into_iter().filter(|series| !series.values.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_relative_to_the_frames_of_each_interval() {
        let state = |sent, retries| AccessPoint {
            signal_dbm: Some(-61),
            sent_bits_per_second: Some(433_300_000),
            received_bits_per_second: None,
            sent_and_retries: Some((sent, retries)),
        };
        let states = [state(u32::MAX, 10), state(99, 35), state(99, 35), state(199, 35)];
        let timed: Vec<_> = (0..4).map(|n| Time::from_nanos(n * 1_000_000_000)).zip(states).collect();
        let all = series(&timed);
        let values = |metric| all.iter().find(|series| series.key.metric == metric).unwrap().values.clone();
        assert_eq!(values(Metric::WifiSignal), [-61.0; 4]);
        // Counters wrap; no frame gives no ratio.
        assert_eq!(values(Metric::WifiRetries), [0.25, 0.0]);
        assert_eq!(all.len(), 3, "the bitrate of the download is unknown");
    }

    #[test]
    fn another_interface_is_not_observed() {
        assert!(WifiObserver::start([127, 0, 0, 1].into(), Clock::start()).is_none());
    }
}
