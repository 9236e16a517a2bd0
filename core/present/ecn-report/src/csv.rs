//! A survey as a table (RFC 4180).
use crate::words::{happens, name};
use crate::{Record, Survey};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_report::quoted;
use fathom_run::Hop;

const HEADINGS: &str = "rank,host,address,port,started,outcome,ecn,accecn,packet,happens,certain,\
    after_hop,after_address,after_as,before_hop,before_address,before_as,reason\n";

/// A line per host.
pub fn csv(survey: &Survey<'_>) -> String {
    survey.records().iter().map(line).fold(HEADINGS.to_string(), |table, line| table + &line)
}

fn line(record: &Record) -> String {
    let answer = |agreed: Option<bool>| agreed.map_or("", |agreed| if agreed { "yes" } else { "no" });
    let problem = record.problem.as_ref();
    let finding = problem.map(|problem| problem.finding);
    let mut cells = Vec::from([
        record.rank.map_or_else(String::new, |rank| rank.to_string()),
        record.host.clone(),
        record.address.clone().unwrap_or_default(),
        record.port.to_string(),
        record.started.clone(),
        record.outcome.name().to_string(),
        answer(record.classic_agreed).to_string(),
        answer(record.accurate_agreed).to_string(),
        finding.map_or_else(String::new, |finding| name(finding.probe)),
        finding.map_or_else(String::new, |finding| happens(finding.fate)),
        answer(finding.map(|finding| finding.is_certain)).to_string(),
    ]);
    cells.extend(hop(problem.and_then(|problem| problem.after.as_ref())));
    cells.extend(hop(problem.and_then(|problem| problem.before.as_ref())));
    cells.push(record.reason.clone().unwrap_or_default());
    cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n"
}

fn hop(hop: Option<&Hop>) -> [String; 3] {
    hop.map_or_else(Default::default, |hop| {
        let system = hop.autonomous_system.as_ref().map_or_else(String::new, ToString::to_string);
        [hop.number.to_string(), hop.address.clone(), system]
    })
}
