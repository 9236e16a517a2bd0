//! Properties of any bytes parsed as a trace. The fuzz target `rate_trace` runs the same function.
use fathom_link::{Bottleneck, BottleneckParams, ImpairmentParams, Trace, TransmitterParams};
use fathom_qdisc::{Ecn, Packet};
use fathom_units::{Bytes, Duration, Time};

#[derive(Clone)]
struct Plain(u64);

impl Packet for Plain {
    fn len(&self) -> Bytes {
        Bytes(self.0)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow_hash(&self, salt: u64) -> u64 {
        salt
    }
}

/// A trace is rejected with a line number, or its packets leave, in order and after they arrived.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match text.parse::<Trace>() {
        Ok(trace) => carries(trace),
        Err(error) => {
            assert!((1..=text.lines().count().max(1)).contains(&error.line), "{error}");
            assert!(!error.what.is_empty() && !error.what.contains('\n'), "{error}");
        }
    }
}

fn carries(trace: Trace) {
    let Ok(queue) = "fifo limit 100p".parse() else { return };
    let mut line = Bottleneck::new(
        &BottleneckParams {
            transmitter: TransmitterParams::Trace(trace),
            delay: Duration::ZERO,
            queue,
            overhead: Bytes::ZERO,
            impairment: ImpairmentParams::default(),
        },
        1,
    );
    let start = Time::from_nanos(1_234_567);
    for len in [1, 40, 1500, 1504, 4000] {
        line.arrive(Plain(len), start, &mut ());
    }
    let (mut last, mut count) = (start, 0);
    line.advance(Time::MAX, &mut (), &mut |_, time| {
        assert!(last <= time, "{time} after {last}");
        (last, count) = (time, count + 1);
    });
    assert_eq!(count, 5);
}
