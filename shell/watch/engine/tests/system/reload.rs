//! Reloads a plan while probes are in flight.
use crate::memory::{answered, plan, row, start, wait_for};
use fathom_test_support::in_new_namespace;
use fathom_units::Duration;
use fathom_watch_engine::Changes;

const FIRST: &str = "[defaults]\ninterval = '100ms'\n\
    [[target]]\nname = 'stays'\nhost = '127.0.0.1'\n\
    [[target]]\nname = 'goes'\nhost = '127.0.0.2'\n\
    [[target]]\nname = 'changes'\nhost = '127.0.0.3'\n";
const SECOND: &str = "[defaults]\ninterval = '100ms'\n\
    [[target]]\nname = 'comes'\nhost = '127.0.0.4'\n\
    [[target]]\nname = 'changes'\nhost = '127.0.0.3'\nsize = 100\n\
    [[target]]\nname = 'stays'\nhost = '127.0.0.1'\n";

#[test]
fn an_unchanged_target_has_no_gap() {
    in_new_namespace(|| {
        let (mut monitor, memory) = start(FIRST);
        wait_for("ten answers", || (answered(&memory.samples("stays", "icmp")) >= 10).then_some(()));
        assert_eq!(monitor.reload(&plan(SECOND)), Changes { unchanged: 1, started: 2, stopped: 2 });
        wait_for("the new one", || (answered(&memory.samples("comes", "icmp")) >= 10).then_some(()));
        assert_eq!(monitor.reload(&plan(SECOND)), Changes { unchanged: 3, started: 0, stopped: 0 });
        wait_for("the changed one", || (answered(&memory.samples("changes", "icmp")) >= 20).then_some(()));
        monitor.sync();
        assert!(row(&monitor, "goes", "icmp").is_none());
        assert!(row(&monitor, "comes", "icmp").is_some());
        assert!(monitor.stop().is_empty());
        let stays = memory.samples("stays", "icmp");
        let first = stays[0].at.0;
        for (n, sample) in stays.iter().enumerate() {
            // On the grid, except for slots missed by a busy host. A reload must neither shift the
            // grid nor leave a gap.
            let off = (sample.at.0 - first) % 100_000_000;
            assert!(
                off.min(100_000_000 - off) < 5_000_000,
                "sample {n} is {} off the grid",
                Duration::from_nanos(off)
            );
        }
    });
}
