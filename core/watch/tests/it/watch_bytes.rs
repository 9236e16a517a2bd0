//! What must hold for any bytes that are given as a configuration, as a DNS answer and as an ICMP packet: nothing falls,
//! and what is accepted can be used.
use fathom_watch::{EchoForm, dns, parse};

pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text, "f") {
        Ok(plan) => {
            assert!(!plan.targets.is_empty() && plan.packets_per_second() > 0.0);
            for target in &plan.targets {
                assert!(!target.series().is_empty());
                assert!(
                    target.pace.gap * u64::from(target.pace.probes) <= target.pace.interval
                        || target.pace.probes == 1
                );
                let query = dns::query(1, &target.form.query, target.form.query_type);
                assert!(query.len() <= 12 + 255 + 4, "{}", target.form.query);
            }
        }
        Err(error) => assert!(error.line >= 1 && error.line <= text.lines().count() + 1, "{error}"),
    }
    dns::response_code(&dns::query(0x1234, "example.net", 1), bytes);
    for v6 in [false, true] {
        let form = EchoForm { v6, token: 0, identifier: 0, checksum: false };
        let _ = (form.read(bytes), form.read_sent(bytes));
    }
}
