//! ECN codepoints with which packets arrived.
use crate::UdpRecord;
use fathom_run::{Metric, Observation, Phase, Series, SeriesKey, Value};
use fathom_units::{Direction, Ecn, Time};

/// Numbers of the probes of a phase that arrived with each codepoint, in the order of [`Ecn::ALL`].
pub fn probe_codepoints(record: &UdpRecord, direction: Direction, phase: &Phase) -> [u64; 4] {
    let mut counts = [0; 4];
    for answer in &record.answers {
        let sent = record.sent.get(answer.sequence as usize).map(|(sent, _)| sent.as_nanos());
        if sent.is_some_and(|sent| (phase.start_ns..phase.end_ns).contains(&sent))
            && let Some(class) = answer.class[direction]
        {
            counts[Ecn::of_class(class) as usize] += 1;
        }
    }
    counts
}

/// The series of a metric of codepoints in a direction, from the counts of phases that start at
/// these times: one for each codepoint, which is the scope.
pub fn codepoint_series(metric: Metric, direction: Direction, counts: &[(u64, [u64; 4])]) -> [Series; 4] {
    Ecn::ALL.map(|codepoint| {
        let scope = Some(codepoint.name().into());
        let mut series = Series::new(SeriesKey { scope, ..SeriesKey::directed(metric, direction) });
        for (start_ns, count) in counts {
            let value = Value::Observed(count[codepoint as usize] as f64);
            series.push(Observation { at: Time::from_nanos(*start_ns), value });
        }
        series
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FourStamps, UdpAnswer};
    use fathom_run::{PhaseEnd, PhaseKind};
    use fathom_units::{Duration, PerDirection};

    #[test]
    fn probes_count_in_the_phase_in_which_they_were_sent() {
        let answer = |sequence, up, down| {
            let sent = Time::from_nanos(u64::from(sequence) * 10);
            let stamps = FourStamps { sent, server_received_ns: 0, server_sent_ns: 0, received: sent };
            UdpAnswer { sequence, stamps, received: None, class: PerDirection { up, down } }
        };
        let record = UdpRecord {
            sent: (0..4).map(|n| (Time::from_nanos(n * 10), Duration::ZERO)).collect(),
            // The third is marked, and the ECN field of its reply was cleared; the last is later.
            answers: [
                answer(0, Some(2), Some(2)),
                answer(1, Some(2), None),
                answer(2, Some(0xbb), Some(0xb8)),
                answer(3, Some(2), Some(2)),
                answer(9, Some(2), Some(2)),
            ]
            .to_vec(),
        };
        let (kind, end) = (PhaseKind::Idle, PhaseEnd::Settled);
        let phase = Phase { kind, start_ns: 0, end_ns: 30, end, load: None };
        let counts = [Direction::Up, Direction::Down].map(|d| probe_codepoints(&record, d, &phase));
        assert_eq!(counts, [[0, 0, 2, 1], [1, 0, 1, 0]]);
        let [.., marked] = codepoint_series(Metric::EcnProbes, Direction::Up, &[(0, counts[0])]);
        assert_eq!((marked.key.scope.as_deref(), &marked.values[..]), (Some("ce"), &[1.0][..]));
    }
}
