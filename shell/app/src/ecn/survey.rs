//! Whether ECN survives on the paths to many hosts. Each host gets a short test; its path is tested
//! hop by hop only if ECN does not survive. Results are kept in a file, so that an interrupted
//! survey can be resumed.
use super::dispatch::{Dispatch, Task, Turn};
use super::list::{Host, OptOut, hosts_of, read_list, read_opt_out};
use super::resolve;
use super::store::Store;
use crate::hops::{HopNames, describe};
use crate::output::check_folder;
use crate::test::Settings;
use crate::{AppError, CancelToken, ExitClass};
use fathom_diagnose::Diagnosis;
use fathom_ecn::Finding;
use fathom_ecn_report::{Outcome, Problem, Record, Survey, survey_headline, survey_screen};
use fathom_ecn_sockets::{EcnError, Extent, Tested, test};
use fathom_os::clock::{Clock, wall_now};
use fathom_report::{CommandDocument, Style, command_document};
use fathom_run::Hop;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

/// Hosts that are tested at the same time. Most of the time, a test waits for replies.
const AT_ONCE: usize = 32;

/// The file of a survey of a list, unless another is named.
const DEFAULT_FILE: &str = "ecn.jsonl";

/// A request for a survey.
#[derive(Clone, Debug)]
pub struct SurveyRequest {
    /// The hosts, `HOST` or `HOST:PORT`, if there is no list.
    pub hosts: Vec<String>,
    /// TCP port of hosts without one.
    pub port: u16,
    /// The file with the hosts.
    pub list: Option<PathBuf>,
    /// The file with those that must not be tested.
    pub opt_out: Option<PathBuf>,
    /// Number of tests that start in a second, at most.
    pub rate: u32,
    /// The file with all results, to which new ones are appended. A list has one by default.
    pub out: Option<PathBuf>,
    /// The file for a table.
    pub csv: Option<PathBuf>,
    /// The file for a page.
    pub page: Option<PathBuf>,
    /// The file in the format of PATHspider.
    pub pathspider: Option<PathBuf>,
}

/// Progress of a survey.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Hosts with a result.
    pub done: usize,
    /// All hosts.
    pub all: usize,
    /// Hosts on whose path ECN does not survive.
    pub problems: usize,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} hosts, {} where ECN does not survive", self.done, self.all, self.problems)
    }
}

/// The results of a survey.
#[derive(Clone, Debug)]
pub struct SurveyResult {
    records: Vec<Record>,
    opted_out: u64,
    /// Hosts without a result.
    remaining: u64,
    /// Why the networks of hops are unknown.
    warning: Option<String>,
}

/// Tests hosts, and writes the files. Cancelling it ends it early, with the results until then.
///
/// # Errors
/// If this process may not open raw sockets, or a file cannot be read or written, or is of another
/// kind. The results until then are in [`SurveyRequest::out`].
pub fn survey(
    request: &SurveyRequest,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress),
) -> Result<SurveyResult, AppError> {
    let hosts = match &request.list {
        Some(list) => read_list(list, request.port)?,
        None => hosts_of(&request.hosts, request.port)?,
    };
    let files = [&request.csv, &request.page, &request.pathspider];
    files.into_iter().flatten().try_for_each(|file| check_folder(file))?;
    let opt_out = request.opt_out.as_deref().map(read_opt_out).transpose()?.unwrap_or_default();
    let default = request.list.is_some().then(|| PathBuf::from(DEFAULT_FILE));
    let mut store = request.out.clone().or(default).as_deref().map(Store::open).transpose()?;
    let mut result = test_all(&hosts, &mut store, (request.rate, &opt_out), cancel, progress)?;
    result.warning = result.name_hops(Settings::of_user().as_ref()).err().map(|error| error.to_string());
    let title = request.list.as_deref().unwrap_or(Path::new("fathom ecn")).display().to_string();
    let texts = [SurveyResult::csv, SurveyResult::page, SurveyResult::pathspider];
    for (file, text) in files.into_iter().zip(texts) {
        if let Some(file) = file {
            fathom_store::write(file, &text(&result, &title)).map_err(AppError::Save)?;
        }
    }
    Ok(result)
}

/// Tests those hosts that the file does not have yet.
fn test_all(
    hosts: &[Host],
    store: &mut Option<Store>,
    (rate, opt_out): (u32, &OptOut),
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress),
) -> Result<SurveyResult, AppError> {
    let mut records = store.as_mut().map(|store| std::mem::take(&mut store.earlier)).unwrap_or_default();
    let places = places(hosts);
    records.retain(|record| is_of(record, &places, opt_out));
    let done: BTreeSet<_> = records.iter().map(|record| (record.host.as_str(), record.port)).collect();
    let is_waiting = |host: &&Host| !done.contains(&(host.name.as_str(), host.port));
    let waiting: Vec<Host> = hosts.iter().filter(is_waiting).cloned().collect();
    let all = records.len() + waiting.len();
    let threads = AT_ONCE.min(waiting.len());
    let dispatch = Dispatch::new(waiting, tested(&records), rate, opt_out, cancel);
    let (outbox, inbox) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let outbox = outbox.clone();
            let dispatch = &dispatch;
            scope.spawn(move || work(dispatch, cancel, &outbox));
        }
        drop(outbox);
        let mut problems = records.iter().filter(|record| record.outcome.is_problem()).count();
        let mut keep = |record: Record| -> Result<(), AppError> {
            if let Some(store) = store {
                store.append(&record)?;
            }
            problems += usize::from(record.outcome.is_problem());
            records.push(record);
            progress(Progress { done: records.len(), all, problems });
            Ok(())
        };
        // The threads end soon after an error.
        inbox.iter().try_for_each(|record| keep(record?)).inspect_err(|_| cancel.cancel())
    })?;
    let opted_out = dispatch.opted_out();
    let remaining = (all as u64).saturating_sub(records.len() as u64 + opted_out);
    records.sort_by_cached_key(|record| places.get(&(record.host.as_str(), record.port)).copied());
    Ok(SurveyResult { records, opted_out, remaining, warning: None })
}

/// The addresses of earlier tests.
fn tested(records: &[Record]) -> BTreeMap<SocketAddrV4, String> {
    let tested = records.iter().filter(|record| record.outcome != Outcome::Duplicate);
    tested
        .filter_map(|record| {
            let address = record.address.as_ref()?.parse().ok()?;
            Some((SocketAddrV4::new(address, record.port), record.host.clone()))
        })
        .collect()
}

/// The places of hosts in their list, by name and port.
fn places(hosts: &[Host]) -> BTreeMap<(&str, u16), usize> {
    hosts.iter().enumerate().map(|(place, host)| ((host.name.as_str(), host.port), place)).collect()
}

/// Whether a result of the file is one of this survey. Results of other lists stay in the file.
/// Hosts that got no packet are tried again, and hosts that opted out later are left out.
fn is_of(record: &Record, places: &BTreeMap<(&str, u16), usize>, opt_out: &OptOut) -> bool {
    let address = record.address.as_ref().and_then(|address| address.parse().ok());
    let has_opted_out =
        opt_out.has_name(&record.host) || address.is_some_and(|address| opt_out.has_address(address));
    record.outcome.is_final() && !has_opted_out && places.contains_key(&(record.host.as_str(), record.port))
}

/// Tests hosts until none waits.
fn work(dispatch: &Dispatch<'_>, cancel: &CancelToken, outbox: &Sender<Result<Record, AppError>>) {
    while let Some(task) = dispatch.next() {
        let result = one(dispatch, cancel, task);
        let failed = result.is_err();
        // The receiver ends after an error.
        if result.transpose().is_some_and(|result| outbox.send(result).is_err()) || failed {
            return;
        }
    }
}

/// Tests a host. `None` if it waits again, or must not be tested, or the survey was stopped.
fn one(dispatch: &Dispatch<'_>, cancel: &CancelToken, task: Task) -> Result<Option<Record>, AppError> {
    let host = task.host;
    let blank = Record::untested(&host.name, host.port, host.rank, wall_now().to_string());
    let resolved = task.address.map_or_else(|| resolve(host.target(), host.port), Ok);
    let address = match resolved {
        Ok(address) => address,
        Err(error) => return Ok(Some(not_tested(blank, Outcome::Unresolved, error.to_string()))),
    };
    let blank = Record { address: Some(address.ip().to_string()), ..blank };
    match dispatch.turn(&host, address) {
        Turn::Later | Turn::OptedOut => Ok(None),
        Turn::Duplicate(other) => Ok(Some(not_tested(blank, Outcome::Duplicate, other))),
        Turn::Now => {
            let result = both(dispatch, address, cancel);
            dispatch.release(address);
            match result {
                // A stopped test is incomplete.
                Ok(_) if cancel.is_cancelled() => Ok(None),
                Ok(tested) => Ok(Some(Record {
                    own_address: Some(tested.own.to_string()),
                    ended: wall_now().to_string(),
                    ..blank.with(&tested.report, &tested.from_host)
                })),
                Err(error @ EcnError::Send { .. }) => {
                    Ok(Some(not_tested(blank, Outcome::NotSent, error.to_string())))
                }
                Err(error) => Err(error.into()),
            }
        }
    }
}

/// The short test of a host, and if there is a sign of a problem, that of its path.
fn both(dispatch: &Dispatch<'_>, address: SocketAddrV4, cancel: &CancelToken) -> Result<Tested, EcnError> {
    let of = |extent| test(address, extent, Clock::start(), cancel.flag(), &mut |_| {});
    let short = of(Extent::Host)?;
    let has_sign = short.from_host.lacks_ect() || short.report.findings.iter().any(Finding::is_problem);
    if !has_sign {
        return Ok(short);
    }
    let _only = dispatch.path();
    of(Extent::Path)
}

fn not_tested(blank: Record, outcome: Outcome, reason: String) -> Record {
    Record { outcome, reason: Some(reason), ended: wall_now().to_string(), ..blank }
}

impl SurveyResult {
    /// Adds the names of the hops at which something happens, and whose they are. Without the
    /// user's table of networks, the names are there anyway.
    fn name_hops(&mut self, settings: Option<&Settings>) -> Result<(), AppError> {
        let problems = || self.records.iter().filter_map(|record| record.problem.as_ref());
        let hops = problems().flat_map(|problem| problem.after.iter().chain(&problem.before));
        let unique: BTreeMap<String, Hop> = hops.map(|hop| (hop.address.clone(), hop.clone())).collect();
        let mut path = fathom_run::Path { hops: unique.into_values().collect(), ..Default::default() };
        let result = describe(&mut path, &mut HopNames::default(), settings);
        let known: BTreeMap<String, Hop> =
            path.hops.into_iter().map(|hop| (hop.address.clone(), hop)).collect();
        for hop in
            self.records.iter_mut().filter_map(|record| record.problem.as_mut()).flat_map(Problem::hops_mut)
        {
            if let Some(named) = known.get(&hop.address) {
                *hop = Hop { number: hop.number, ..named.clone() };
            }
        }
        result
    }
    fn survey(&self) -> Survey<'_> {
        Survey::new(&self.records, self.remaining)
    }
    /// The screen.
    #[must_use]
    pub fn screen(&self, (style, columns): (Style, u16)) -> String {
        let screen = survey_screen(&self.survey(), columns, style);
        self.warning.iter().fold(screen, |screen, warning| screen + warning + "\n")
    }
    fn csv(&self, _title: &str) -> String {
        fathom_ecn_report::csv(&self.survey())
    }
    fn pathspider(&self, _title: &str) -> String {
        fathom_ecn_report::pathspider(&self.survey())
    }
    fn page(&self, title: &str) -> String {
        fathom_ecn_report::page(&self.survey(), title, crate::VERSION)
    }
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let survey = self.survey();
        let headline = survey_headline(&survey);
        command_document("ecn", headline, &Diagnosis::default(), ("ecn_survey", self.data(&survey)))
    }
    fn data(&self, survey: &Survey<'_>) -> Value {
        let networks: Vec<Value> = survey
            .networks
            .iter()
            .map(|n| json!({ "place": n.place, "what": n.what, "hosts": n.hosts }))
            .collect();
        let agreed = |of: fn(&Record) -> Option<bool>| survey.count(|record| of(record) == Some(true));
        json!({
            "complete": self.remaining == 0,
            "opted_out": self.opted_out,
            "tested": survey.tested(),
            "classic_agreed": agreed(|record| record.classic_agreed),
            "accurate_agreed": agreed(|record| record.accurate_agreed),
            "blocked": survey.with(Outcome::Blocked),
            "altered": survey.with(Outcome::Altered),
            "networks": networks,
            "hosts": self.records,
        })
    }
    /// The exit class: whether a problem was found.
    #[must_use]
    pub fn exit_class(&self) -> ExitClass {
        let survey = self.survey();
        match (self.remaining == 0, survey.problems.is_empty()) {
            (false, _) => ExitClass::Environment,
            (true, false) => ExitClass::Bloated,
            (true, true) if survey.tested() == 0 => ExitClass::NoResult,
            (true, true) => ExitClass::Healthy,
        }
    }
}
