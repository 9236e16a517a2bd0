//! `fathom fix` with real CAKE and `fq_codel`, in Debian's User-Mode Linux.
use crate::kernel::{Seen, boot};
use crate::program::{alone, scratch};
use serde_json::Value;
use std::path::Path;

const INSIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/conformance/fix.sh");

/// A ping during an upload through a shaper at 5 Mbit/s. It waits for the packet that is being
/// sent, which takes 2.4 ms. A busy machine adds to that, so the median is asserted.
fn shaper_holds(work: &Path, shaper: &str) -> String {
    let seen = Seen::of(&work.join(format!("{shaper}.ping")), &work.join(format!("{shaper}.iperf")));
    let (median, max) = (seen.percentile(0.5), seen.percentile(1.0));
    assert!(median < 15.0, "{shaper}: {median} ms");
    assert!((3.0..4.9).contains(&seen.goodput_mbit), "{shaper}: {} Mbit/s", seen.goodput_mbit);
    let status = std::fs::read_to_string(work.join(format!("{shaper}.status"))).unwrap();
    let status: Value = serde_json::from_str(&status).unwrap_or_else(|e| panic!("{e}: {status}"));
    let status = &status["fix"]["interfaces"][0];
    assert_eq!((&status["shaper"], &status["state"]), (&shaper.into(), &"on".into()));
    assert!(status["up"]["counters"]["dropped_packets"].as_u64() > Some(0), "{status}");
    // Queue disciplines that can mark report the number of marks.
    let marks = &status["up"]["counters"]["marked_packets"];
    assert_eq!(marks.is_u64(), shaper != "flow-hash", "{status}");
    let differs = std::fs::read_to_string(work.join(format!("{shaper}.differs"))).unwrap();
    assert_eq!(differs, "", "{shaper}: before and after");
    let goodput = seen.goodput_mbit;
    format!("{shaper}: ping median {median} ms, most {max} ms; goodput {goodput:.2} of 5 Mbit/s")
}

#[test]
fn real_cake_and_fq_codel_go_on_and_off() {
    let _alone = alone();
    let work = scratch().join("fix-kernel");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).unwrap();
    let console = boot(INSIDE, &work, &[env!("CARGO_BIN_EXE_fathom")]);
    let said = std::fs::read_to_string(work.join("said")).unwrap_or_default();
    assert!(
        work.join("before-6.differs").exists(),
        "it did not come to its end\ninside: {said}\nits console: {console}"
    );
    for shaper in ["cake", "htb+fq_codel", "flow-hash"] {
        println!("{}", shaper_holds(&work, shaper));
    }
    for number in 1..=6 {
        let read =
            |what: &str| std::fs::read_to_string(work.join(format!("before-{number}.{what}"))).unwrap();
        let (differs, refused) = (read("differs"), read("refused"));
        assert_eq!(differs.lines().count(), 1, "{differs}");
        // Linux does not report the table of RED, so RED cannot be restored: it is left unchanged.
        let is_red = differs.contains(" red ");
        assert_eq!(refused.contains("could not be restored exactly"), is_red, "{differs}{refused}");
    }
    std::fs::remove_dir_all(work).unwrap();
}
