//! Protocols whose timers are shorter than round trips under load.
use crate::line::{BLOATED, Line, MANAGED};
use fathom_diagnose::diagnose;
use fathom_run::{Conclusion, ExceededTimers, PhaseKind, ProtocolTimer};

fn exceeded(line: &Line) -> Option<ExceededTimers> {
    let found = diagnose(&line.run()).findings.into_iter().find_map(|finding| match finding.conclusion {
        Conclusion::ExceededTimers(found) => Some(found),
        _ => None,
    });
    for pair in found.iter().flat_map(|found| found.timers.windows(2)) {
        assert!(pair[0] < pair[1], "the shortest is first");
    }
    found
}

#[test]
fn the_timers_that_a_full_queue_exceeds() {
    use ProtocolTimer::{Dhcp, Dns, Ntp, QuicConnection, Sip, TcpConnection};
    assert_eq!(exceeded(&MANAGED), None);
    // 51 ms and the queue; storage, TCP within a site, and routers do not use this line.
    let cases: [(f64, &[ProtocolTimer]); 4] = [
        (0.4, &[]),
        (0.6, &[Sip]),
        (1.2, &[Sip, TcpConnection, QuicConnection]),
        (6.0, &[Sip, TcpConnection, QuicConnection, Ntp, Dhcp, Dns]),
    ];
    for (full_up_s, want) in cases {
        let found = exceeded(&Line { full_up_s, full_down_s: 0.01, fill_rate: 10.0, ..BLOATED });
        let timers = found.as_ref().map_or(&[][..], |found| &found.timers);
        assert_eq!(timers, want, "{full_up_s} s: {found:?}");
        if let Some(found) = found {
            assert!(found.rtt_p95_s > 0.9 * full_up_s && found.rtt_p95_s < full_up_s + 0.2, "{found:?}");
        }
    }
    let download = exceeded(&Line { full_up_s: 0.1, full_down_s: 3.0, fill_rate: 10.0, ..BLOATED });
    assert!(download.is_some_and(|found| found.phase != PhaseKind::Up));
}
