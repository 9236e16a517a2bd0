//! What `fathom audit` shows of the hosts of `testdata/audit`, as files that a person can read.
use crate::fixture::{HOSTS, asked, places, tree};
use crate::golden::{ASCII, UNICODE, golden};
use fathom_audit::{Facts, Seen, audit as find, links};
use fathom_report::{Audited, audit};
use fathom_units::Time;

#[test]
fn hosts() {
    for (name, rates) in HOSTS {
        let facts = Facts::of(&tree(name));
        let (places, links) = (places(name, rates), links(&facts, &asked(rates), None));
        let audited =
            Audited { host: &facts.host, from: None, links: &links, places: &places, seen: None, all: false };
        golden(&format!("audit-{name}.txt"), &audit(&audited, 100, UNICODE));
        let narrow = audit(&audited, 60, ASCII);
        assert!(narrow.is_ascii(), "{narrow}");
        assert!(audit(&Audited { all: true, ..audited }, 80, UNICODE).len() > narrow.len() / 2);
    }
}

#[test]
fn what_was_seen() {
    let (tree, asked) = (tree("vm-host"), asked("eno1=1gbit"));
    let facts = Facts::of(&tree);
    let mut seen = Seen::default();
    seen.add(&tree, Time::ZERO);
    let mut loaded = tree.clone();
    loaded.insert("replies/qdisc", b"eno2 pfifo_fast handle=0 backlog_bytes=600000".to_vec());
    seen.add(&loaded, Time::from_nanos(10_000_000_000));
    let (places, links) = (find(&facts, &asked, Some(&seen)), links(&facts, &asked, Some(&seen)));
    let audited = Audited {
        host: &facts.host,
        from: Some("root@vm"),
        links: &links,
        places: &places,
        seen: Some(&seen),
        all: false,
    };
    let shown = audit(&audited, 100, UNICODE);
    // 600000 * 8 / 100e6
    assert!(
        shown.contains("seen: 48 ms = 600 kB") && shown.contains("watched for 10 s, 2 samples"),
        "{shown}"
    );
    assert!(shown.starts_with("root@vm"), "{shown}");
}
