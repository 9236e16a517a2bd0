//! All hosts of a survey: how many keep ECN, and which networks do not.
use crate::words::what;
use crate::{Outcome, Problem, Record};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::Hop;

/// All hosts of a survey.
#[derive(Clone, Debug)]
pub struct Survey<'a> {
    /// Hosts to which ECN does not survive, in the order of the list.
    pub problems: Vec<(&'a Record, &'a Problem)>,
    /// Places where ECN does not survive, those of most hosts first.
    pub networks: Vec<Network>,
    /// Number of hosts without a result, because the survey was interrupted.
    pub remaining: u64,
    records: &'a [Record],
}

/// A place where something happens to packets with ECN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network {
    /// The network, or the hops.
    pub place: String,
    /// What happens there.
    pub what: String,
    /// Number of hosts behind the place.
    pub hosts: usize,
}

impl<'a> Survey<'a> {
    /// Groups the problems by place.
    #[must_use]
    pub fn new(records: &'a [Record], remaining: u64) -> Self {
        let with_problem = |record: &'a Record| Some((record, record.problem.as_ref()?));
        let problems: Vec<_> =
            records.iter().filter(|record| record.outcome.is_problem()).filter_map(with_problem).collect();
        let mut networks: Vec<Network> = Vec::new();
        for (_, problem) in &problems {
            let (place, what) = (place(problem), what(&problem.finding));
            match networks.iter_mut().find(|known| known.place == place && known.what == what) {
                Some(known) => known.hosts += 1,
                None => networks.push(Network { place, what, hosts: 1 }),
            }
        }
        networks.sort_by_key(|network| core::cmp::Reverse(network.hosts));
        Survey { problems, networks, remaining, records }
    }
    /// The hosts.
    #[must_use]
    pub const fn records(&self) -> &'a [Record] {
        self.records
    }
    /// Number of hosts for which `is` is true.
    pub fn count(&self, is: impl Fn(&Record) -> bool) -> u64 {
        self.records.iter().filter(|record| is(record)).count() as u64
    }
    /// Number of hosts with an outcome.
    #[must_use]
    pub fn with(&self, outcome: Outcome) -> u64 {
        self.count(|record| record.outcome == outcome)
    }
    /// Number of hosts that accepted a connection.
    #[must_use]
    pub fn tested(&self) -> u64 {
        self.count(|record| record.outcome.is_tested())
    }
}

/// Where a problem is: a network if both hops are of one, otherwise the hops.
pub(crate) fn place(problem: &Problem) -> String {
    let system = |hop: &Option<Hop>| hop.as_ref().and_then(|hop| hop.autonomous_system.clone());
    match (&problem.after, &problem.before, system(&problem.after), system(&problem.before)) {
        (_, _, Some(after), Some(before)) if after.number == before.number => after.to_string(),
        (_, _, Some(after), Some(before)) => format!("{after} or {before}"),
        (Some(after), Some(before), ..) => format!("between {} and {}", hop(after), hop(before)),
        (None, Some(before), ..) if problem.finding.place.is_some_and(|place| place.after == 0) => {
            format!("between this computer and {}", hop(before))
        }
        (_, Some(before), ..) => format!("before {}", hop(before)),
        (Some(after), None, ..) => format!("after {}", hop(after)),
        (None, None, ..) => "unknown".into(),
    }
}

/// A hop by its name or address, and its network.
fn hop(hop: &Hop) -> String {
    let name = hop.name.as_deref().unwrap_or(&hop.address);
    match &hop.autonomous_system {
        Some(system) => format!("{name} (AS{})", system.number),
        None => name.to_string(),
    }
}
