//! Converts the sections to a configuration and collects notes on what was left out.
use super::alert::alerts;
use super::line::{Load, Mistake, Note};
use super::probe::{ProbeMethod, kind};
use super::target::{ConvertedTarget, Keys, Pace, Scope, line, table};
use super::text::{comment, quoted};
use super::tree::{Node, Tree, read};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Variables that are converted, or become comments.
const TAKEN: [&str; 36] = [
    "menu",
    "title",
    "remark",
    "host",
    "probe",
    "alerts",
    "step",
    "pings",
    "urlformat",
    "url",
    "port",
    "lookup",
    "server",
    "recordtype",
    "dns_request",
    "dns_type",
    "desthost",
    "maxttl",
    "timeout",
    "sourceaddress",
    "tos",
    "packetsize",
    "hostinterval",
    "protocol",
    "ipversion",
    "to",
    "from",
    "type",
    "pattern",
    "comment",
    "priority",
    "edgetrigger",
    "mailhost",
    "datadir",
    "slaves",
    "nomasterpoll",
];
/// Variables about the operation of SmokePing itself, which are not needed.
const NOT_NEEDED: [&str; 20] = [
    "binary",
    "forks",
    "offset",
    "mininterval",
    "usestdout",
    "blazemode",
    "concurrentprobes",
    "imgcache",
    "imgurl",
    "dyndir",
    "piddir",
    "sendmail",
    "smokemail",
    "tmail",
    "syslogfacility",
    "syslogpriority",
    "cgiurl",
    "linkstyle",
    "display_name",
    "pagedir",
];
/// Sections about SmokePing's web page and slaves, which are left out.
const LEFT: [(&str, &str); 3] = [
    ("Presentation", "Fathom's page has its own layout"),
    ("Slaves", "run a separate fathom watch on each machine"),
    ("InfluxDB", "use [[push]] or /metrics to export data"),
];

/// Result of an import.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The configuration in TOML.
    pub toml: String,
    /// Settings that were left out or changed, in file order.
    pub notes: Vec<Note>,
    /// The imported targets, in order.
    pub targets: Vec<ImportedTarget>,
    /// SmokePing's database directory, if the file names it.
    pub datadir: Option<String>,
}

/// An imported target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedTarget {
    /// Its name. SmokePing's database is at this path plus `.rrd`.
    pub name: String,
    /// SmokePing's probe type, if Fathom measures something slightly different.
    pub differs: Option<String>,
}

/// Imports SmokePing's configuration. `load` returns the text of a file, or why it cannot be read.
///
/// # Errors
/// What SmokePing itself would refuse, with file and line.
pub fn import(file: &str, load: Load<'_>) -> Result<Imported, Mistake> {
    let mut first_notes = Vec::new();
    let tree = read(file, load, &mut first_notes)?;
    let mut converter = Converter {
        tree: &tree,
        database: tree.top("Database"),
        default: None,
        notes: first_notes,
        made: Vec::new(),
        noted: BTreeSet::new(),
    };
    converter.targets();
    left_out(&tree, &mut converter.notes);
    let Converter { made, mut notes, default, .. } = converter;
    let rules = alerts(&tree, &made, &mut notes);
    let general = tree.top("General");
    let datadir = general.and_then(|g| tree.inherited(g, "datadir")).map(|value| value.text.clone());
    notes.sort_by(|a, b| a.place.cmp(&b.place));
    let targets =
        made.iter().map(|t| ImportedTarget { name: t.name.clone(), differs: t.differs.clone() }).collect();
    Ok(Imported { toml: written(file, default, &made, &rules), notes, targets, datadir })
}

struct Converter<'t> {
    tree: &'t Tree,
    database: Option<usize>,
    /// Schedule of the first target, used as the default for all.
    default: Option<Pace>,
    notes: Vec<Note>,
    made: Vec<ConvertedTarget>,
    /// Probe types with a note on how they differ.
    noted: BTreeSet<String>,
}

impl Converter<'_> {
    fn targets(&mut self) {
        let Some(top) = self.tree.top("Targets") else { return };
        let tree = self.tree;
        for (place, node) in tree.within(top) {
            let Some(host) = node.values.get("host").filter(|host| !host.text.is_empty()) else { continue };
            if let Err(why) = self.target(place, node, &host.text) {
                let path = tree.path(place).join("/");
                self.note(node, format!("target {path} (host {}) was left out: {why}", comment(&host.text)));
            }
        }
    }
    fn target(&mut self, place: usize, node: &Node, host: &str) -> Result<(), String> {
        let probe = self.tree.inherited(place, "probe").ok_or("probe is missing")?.text.clone();
        self.possible(place, host)?;
        let probes = self.tree.top("Probes");
        let at =
            probes.and_then(|top| self.tree.within(top).find(|(_, n)| n.name == probe)).map(|(at, _)| at);
        let module = at
            .and_then(|at| self.tree.path(at).first().map(ToString::to_string))
            .unwrap_or_else(|| probe.clone());
        let kind = kind(&module);
        let scope = Scope { tree: self.tree, target: place, probe: at, database: self.database };
        let keys = scope.keys(&module, kind.method, host);
        let keys = keys.map_err(|why| {
            if matches!(kind.method, ProbeMethod::Not(_)) { format!("probe {module} {why}") } else { why }
        })?;
        let pace = scope.pace(&module);
        let path = self.tree.path(place);
        if path.iter().any(|name| name.is_empty() || name.contains('/')) {
            return Err("all enclosing sections need a name without /".to_string());
        }
        let (short, groups) = path.split_last().ok_or("name is missing")?;
        let about = ["menu", "title", "remark"].map(|key| node.values.get(key).map(|v| comment(&v.text)));
        let mut about: Vec<String> = about.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        about.dedup();
        let differs = (!kind.differs.is_empty()).then(|| module.clone());
        let made = ConvertedTarget {
            place,
            name: path.join("/"),
            group: groups.join("/"),
            short: (*short).to_string(),
            about: about.join(": "),
            pace,
            keys,
            differs,
        };
        // Whether a host or URL is valid is decided by the parser of the configuration.
        fathom_watch_plan::parse(&made.checked(), "").map_err(|error| error.what)?;
        if !kind.differs.is_empty() && self.noted.insert(module.clone()) {
            let home = at.and_then(|at| self.tree.nodes.get(at)).unwrap_or(node);
            self.note(home, format!("probe {module} {}", kind.differs));
        }
        self.default = self.default.or(Some(made.pace).filter(|p| !p.steady));
        self.made.push(made);
        Ok(())
    }
    /// Refuses hosts that this machine cannot probe.
    fn possible(&self, place: usize, host: &str) -> Result<(), String> {
        let has_word =
            |key: &str, word: &str| self.tree.inherited(place, key).is_some_and(|v| v.text == word);
        if host == "DYNAMIC" {
            return Err("DYNAMIC hosts are not supported (use the host's dynamic DNS name)".to_string());
        }
        if host.starts_with('/') {
            return Err("select multi-target plots on the page instead".to_string());
        }
        if has_word("nomasterpoll", "yes") {
            return Err("nomasterpoll: only slaves probed it".to_string());
        }
        Ok(())
    }
    fn note(&mut self, node: &Node, what: String) {
        self.notes.push(Note { place: node.place.clone(), what });
    }
}

/// Notes each variable and table that is not used.
fn left_out(tree: &Tree, notes: &mut Vec<Note>) {
    let mut left: Option<usize> = None;
    for (at, node) in tree.nodes.iter().enumerate() {
        if tree.level(at) == 1 {
            let why = LEFT.iter().find(|(name, _)| *name == node.name).map(|(_, why)| *why);
            left = why.map(|_| at);
            notes.extend(why.map(|why| Note {
                place: node.place.clone(),
                what: format!("section {} was left out: {why}", node.name),
            }));
        }
        if left.is_some() {
            continue;
        }
        for (key, value) in &node.values {
            notes.extend(note_on(key, &value.text).map(|what| Note { place: value.place.clone(), what }));
        }
        notes.extend(node.rows.first().map(|row| Note {
            place: row.place.clone(),
            what: if node.name == "Database" {
                "the table of archives was left out: fathom watch has its own retention (samples for 400 days, hourly histograms forever)"
                    .to_string()
            } else {
                format!("{}: not a variable; left out", comment(&row.text))
            },
        }));
    }
}

/// The note on a variable.
fn note_on(key: &str, text: &str) -> Option<String> {
    if key == "packetsize" {
        let fits = text.parse().is_ok_and(|size: u64| (32..=1_452).contains(&size));
        return (!fits).then(|| {
            format!("packetsize = {}: out of range (32 to 1452); the nearest size is used", comment(text))
        });
    }
    if key == "slaves" && !text.is_empty() {
        return Some("slaves: not supported; the targets are probed only from this machine".to_string());
    }
    if TAKEN.contains(&key) {
        return None;
    }
    let why = if NOT_NEEDED.contains(&key) { "not needed" } else { "not supported" };
    Some(format!("{} = {}: {why}; left out", comment(key), comment(text)))
}

/// The configuration file.
fn written(file: &str, default: Option<Pace>, made: &[ConvertedTarget], rules: &str) -> String {
    let mut out = format!("# Made by `fathom watch import smokeping` from {}.\n", comment(file));
    let shared: Keys = default.map(Pace::keys).unwrap_or_default();
    if !shared.is_empty() {
        out.push_str("\n[defaults]\n");
        out.extend(shared.iter().map(line));
    }
    // In TOML, targets without a group come before all groups.
    for target in made.iter().filter(|target| target.group.is_empty()) {
        out.push_str(&table(target, "target", &shared));
    }
    let mut groups: Vec<&str> = Vec::new();
    let mut known = BTreeSet::new();
    for target in made.iter().filter(|target| !target.group.is_empty()) {
        if known.insert(target.group.as_str()) {
            groups.push(&target.group);
        }
    }
    for group in groups {
        out.push_str(&format!("\n[[group]]\nname = {}\n", quoted(group)));
        for target in made.iter().filter(|target| target.group == group) {
            out.push_str(&table(target, "group.target", &shared));
        }
    }
    out.push_str(rules);
    out
}
