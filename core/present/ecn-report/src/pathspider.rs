//! A survey in the format of PATHspider 2.0: a JSON object per line. Source: "Data Formats" and
//! "ECN Plugin" of its manual, <https://pathspider.readthedocs.io>.
use crate::{Outcome, Record, Survey};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_ecn::{Handshake, Probe};
use fathom_units::{Direction, Ecn};
use serde_json::{Value, json};

/// A line per host that packets were sent to.
pub fn pathspider(survey: &Survey<'_>) -> String {
    let tested = survey.records().iter().filter(|record| {
        record.outcome.is_final() && record.outcome != Outcome::Duplicate && record.address.is_some()
    });
    tested.map(|record| format!("{}\n", job(record))).collect()
}

fn job(record: &Record) -> Value {
    json!({
        "dip": record.address,
        "dp": record.port,
        "domain": record.host,
        "rank": record.rank,
        "sip": record.own_address,
        "path": [record.own_address, record.address],
        "time": { "from": record.started, "to": record.ended },
        "conditions": conditions(record),
    })
}

fn conditions(record: &Record) -> Vec<String> {
    let asks = Probe::Syn(Handshake::Classic);
    let is_broken = record
        .findings
        .iter()
        .any(|f| f.probe == asks && f.direction == Direction::Up && f.is_certain && f.is_blocked());
    let connectivity = match (record.outcome.is_tested(), is_broken) {
        (false, _) => "offline",
        (true, true) => "broken",
        (true, false) => "works",
    };
    let mut conditions = Vec::from([format!("ecn.connectivity.{connectivity}")]);
    if connectivity != "works" {
        return conditions;
    }
    let negotiation = match record.classic_agreed {
        Some(true) => "succeeded",
        _ if record.is_reflected => "reflected",
        _ => "failed",
    };
    conditions.push(format!("ecn.negotiation.{negotiation}"));
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        let seen = if record.data_packets[ecn as usize] > 0 { "seen" } else { "not_seen" };
        conditions.push(format!("ecn.ipmark.{}.{seen}", ecn.name()));
    }
    conditions
}
