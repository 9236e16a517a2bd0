//! Converts test events to inputs of the state machine.
use fathom_client::Event;
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_run::{Phase, PhaseEnd};
use fathom_shape::fix::{Input, IpVersion, LoadSummary};
use fathom_units::{Duration, PerDirection};
use std::net::SocketAddr;

/// The input for an event, if the machine uses it.
pub(crate) fn of_event(event: &Event) -> Option<Input> {
    Some(match event {
        Event::Connected(address) => Input::Connected(match address {
            SocketAddr::V4(_) => IpVersion::V4,
            SocketAddr::V6(_) => IpVersion::V6,
        }),
        Event::PhaseStarted { kind, at } => Input::PhaseStarted { kind: *kind, at: *at },
        // Series of single flows and of the shaper.
        Event::Observed { key, .. } if key.flow.is_some() || key.scope.is_some() => return None,
        Event::Observed { key, observation } => {
            Input::Observed { metric: key.metric, direction: key.direction, observation: *observation }
        }
        Event::PhaseEnded(phase) => of_phase(phase),
        Event::Cost(_) | Event::Path(_) | Event::BurstsStarted | Event::Note(_) => return None,
    })
}

fn of_phase(phase: &Phase) -> Input {
    let (duration, is_complete) = (Duration::from_secs_f64(phase.seconds()), phase.end != PhaseEnd::Aborted);
    Input::PhaseEnded { kind: phase.kind, duration, is_complete }
}

/// The result of a test, phase by phase.
pub(crate) fn of_diagnosis(diagnosis: &Diagnosis) -> Input {
    let summary = |phase: &PhaseSummary| LoadSummary {
        kind: phase.kind,
        increase_s: phase.increase_p50_s,
        goodput_bits_per_second: PerDirection {
            up: phase.goodput_up_bits_per_second,
            down: phase.goodput_down_bits_per_second,
        },
    };
    Input::Measured(diagnosis.phases.iter().map(summary).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_run::{Metric, Observation, SeriesKey, Value};
    use fathom_units::{Direction, Time};

    #[test]
    fn goodput_of_single_flows_is_not_that_of_the_direction() {
        let of = |flow| {
            let key = SeriesKey { flow, ..SeriesKey::directed(Metric::Goodput, Direction::Up) };
            let observation = Observation { at: Time::ZERO, value: Value::Observed(1e6) };
            of_event(&Event::Observed { key, observation })
        };
        assert!(of(Some(1)).is_none());
        let Some(Input::Observed { metric: Metric::Goodput, direction: Some(Direction::Up), .. }) = of(None)
        else {
            panic!("no input")
        };
    }
}
