//! What `fathom audit` shows of the hosts of `testdata/audit`, as files that a person can read.
use crate::fixture::{HOSTS, audited, known, tree};
use crate::golden::{ASCII, UNICODE, golden};
use fathom_audit::{Audit, Facts, Observed, audit as find};
use fathom_diagnose::diagnose_audit;
use fathom_report::{Audited, Detail, Style, audit};
use fathom_units::Time;

fn shown(found: &Audit, all: bool, columns: u16, style: Style) -> String {
    audit(&Audited { host: &found.host, diagnosis: &diagnose_audit(found), all }, columns, style)
}

#[test]
fn hosts() {
    for (name, rates) in HOSTS {
        let found = audited(name, rates);
        golden(&format!("audit-{name}.txt"), &shown(&found, false, 100, UNICODE));
        let narrow = shown(&found, false, 60, ASCII);
        assert!(narrow.is_ascii(), "{narrow}");
        assert!(shown(&found, true, 80, UNICODE).len() > narrow.len() / 2);
        let verbose = Style { detail: Detail::Verbose, ..UNICODE };
        assert!(shown(&found, false, 80, verbose).contains("No problem"));
        let quiet = shown(&found, false, 80, Style { detail: Detail::Quiet, ..UNICODE });
        assert!(quiet.lines().count() <= 2, "{quiet}");
    }
}

#[test]
fn observed_backlogs_are_shown() {
    let tree = tree("vm-host");
    let mut observed = Observed::default();
    observed.add(&tree, Time::ZERO);
    let mut loaded = tree.clone();
    loaded.insert("replies/qdisc", b"eno2 pfifo_fast handle=0 backlog_bytes=600000".to_vec());
    observed.add(&loaded, Time::from_nanos(10_000_000_000));
    let mut found = find(&Facts::of(&tree), &known("eno1=1gbit"), Some(&observed));
    found.host.host = Some("root@vm".into());
    let shown = shown(&found, false, 100, UNICODE);
    // 600000 * 8 / 100e6
    assert!(
        shown.contains("observed: 48 ms = 600 kB") && shown.contains("Observed for 10 s, 2 samples"),
        "{shown}"
    );
    assert!(shown.contains("\nroot@vm"), "{shown}");
}
