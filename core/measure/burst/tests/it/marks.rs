//! Queues that mark ECN-capable packets.
use crate::common::Path;
use fathom_burst::{estimate, marks, responses};
use fathom_run::{ManagementRule, Marks};

fn measure(queue: &str, rate: &str) -> Option<Marks> {
    let bursts = Path::new(queue, rate).bursts(40_000_000);
    let rule = estimate(&responses(&bursts)).and_then(|buffer| buffer.rule);
    marks(&bursts.iter().collect::<Vec<_>>(), rule)
}

#[test]
fn each_discipline_that_marks_is_recognized() {
    let red = "red limit 400kb min 30kb max 90kb avpkt 1000b burst 55 probability 2% ecn";
    for rate in ["5mbit", "20mbit"] {
        for (queue, rule) in [
            ("codel ecn", ManagementRule::Codel),
            ("codel variant linux ecn", ManagementRule::Codel),
            ("fq_codel", ManagementRule::Codel),
            ("cake", ManagementRule::Codel),
            (red, ManagementRule::Red),
        ] {
            let marks = measure(queue, rate).unwrap_or_else(|| panic!("{queue} at {rate}: no marks"));
            assert_eq!((marks.rule, marks.threshold_s), (Some(rule), None), "{queue} at {rate}: {marks:?}");
        }
    }
}

/// PIE marks only while its probability is low, so it may mark too few.
#[test]
fn pie_is_not_called_anything_else() {
    for queue in ["pie ecn", "pie variant linux ecn"] {
        for rate in ["2mbit", "5mbit", "10mbit", "20mbit", "50mbit"] {
            let rule = measure(queue, rate).and_then(|marks| marks.rule);
            assert!(matches!(rule, None | Some(ManagementRule::Pie)), "{queue} at {rate}: {rule:?}");
        }
    }
}

/// All packets that wait for longer than a threshold, of each kind or of L4S only.
#[test]
fn a_threshold_is_found() {
    for rate in ["5mbit", "20mbit"] {
        let marks = measure("fq_codel ce_threshold 4ms", rate).unwrap();
        let threshold_s = marks.threshold_s.unwrap();
        assert!((0.003..0.008).contains(&threshold_s), "{rate}: {threshold_s}");
        let l4s = measure("dualpi2", rate).unwrap();
        let is_low = l4s.l4s_threshold_s.is_some_and(|of_l4s_s| of_l4s_s < 0.010);
        assert!(l4s.threshold_s.is_none() && is_low, "{rate}: {l4s:?}");
    }
}

#[test]
fn a_queue_that_drops_marks_nothing() {
    for queue in ["fifo limit 100p", "codel", "pie", "fq_codel noecn"] {
        assert_eq!(measure(queue, "10mbit"), None, "{queue}");
    }
}
