//! Converts SmokePing's alerts.
use super::line::Note;
use super::target::ConvertedTarget;
use super::text::{comment, list, quoted};
use super::tree::{Node, Tree};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// All `[[receiver]]` and `[[alert]]` tables.
pub(super) fn alerts(tree: &Tree, targets: &[ConvertedTarget], notes: &mut Vec<Note>) -> String {
    let Some(top) = tree.top("Alerts") else { return String::new() };
    let mut writer = Writer { tree, targets, notes, receivers: BTreeMap::new(), out: String::new() };
    let mut rules = String::new();
    let users = users(tree, targets);
    for (place, node) in tree.within(top).filter(|(place, _)| tree.level(*place) == 2) {
        match writer.rule(place, node, users.get(node.name.as_str())) {
            Ok(rule) => rules.push_str(&rule),
            Err(why) => writer.note(node, format!("alert {} was left out: {why}", node.name)),
        }
    }
    writer.out + &rules
}

/// The targets of each alert, as indices into `targets`.
fn users<'t>(tree: &'t Tree, targets: &[ConvertedTarget]) -> BTreeMap<&'t str, Vec<usize>> {
    let mut users: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, target) in targets.iter().enumerate() {
        let names = tree.inherited(target.place, "alerts").map_or("", |value| value.text.as_str());
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let list = users.entry(name).or_default();
            if list.last() != Some(&place) {
                list.push(place);
            }
        }
    }
    users
}

struct Writer<'t> {
    tree: &'t Tree,
    targets: &'t [ConvertedTarget],
    notes: &'t mut Vec<Note>,
    /// Receiver tables already written (without the name), and their names.
    receivers: BTreeMap<String, String>,
    out: String,
}

impl Writer<'_> {
    fn note(&mut self, node: &Node, what: String) {
        self.notes.push(Note { place: node.place.clone(), what });
    }
    fn rule(&mut self, place: usize, node: &Node, users: Option<&Vec<usize>>) -> Result<String, String> {
        let users = users.ok_or("no target uses it")?;
        let text =
            |key: &str| node.values.get(key).map(|value| value.text.as_str()).filter(|t| !t.is_empty());
        let (kind, pattern) =
            (text("type").ok_or("type is missing")?, text("pattern").ok_or("pattern is missing")?);
        let mut body = format!(
            "\n[[alert]]\nname = {}\ntype = {}\npattern = {}\n",
            quoted(&node.name),
            quoted(kind),
            quoted(pattern)
        );
        let has_gap = pattern.split(',').any(|part| part.trim().len() > 1 && part.trim().starts_with('*'));
        if has_gap && kind != "matcher" {
            body.push_str("semantics = \"smokeping\"\n");
        }
        let edge = self.tree.inherited(place, "edgetrigger").is_some_and(|v| v.text == "yes");
        if !edge {
            body.push_str("edgetrigger = false\n");
        }
        let priority = text("priority").and_then(|text| text.parse::<u64>().ok());
        body.extend(priority.map(|priority| format!("priority = {priority}\n")));
        body.extend(text("comment").map(|text| format!("note = {}\n", quoted(text))));
        let one = self
            .targets
            .get(*users.first().ok_or("no target uses it")?)
            .map(ConvertedTarget::alone)
            .unwrap_or_default();
        fathom_watch_plan::parse(&format!("{one}{body}"), "").map_err(|error| error.what)?;
        if has_gap && kind != "matcher" {
            let what =
                "misses some gaps of its pattern, as in SmokePing (semantics = \"documented\" matches all)";
            self.note(node, format!("alert {} {what}", node.name));
        }
        let to = self.to(place, node);
        if !to.is_empty() {
            body.push_str(&format!("to = {}\n", list(&to)));
        }
        if users.len() < self.targets.len() {
            let names: Vec<String> =
                users.iter().filter_map(|n| self.targets.get(*n)).map(|t| t.name.clone()).collect();
            body.push_str(&format!("target = {}\n", list(&names)));
        }
        Ok(body)
    }
    /// The receivers of an alert. Writes those that are new.
    fn to(&mut self, place: usize, node: &Node) -> Vec<String> {
        let tree = self.tree;
        let Some(all) = tree.inherited(place, "to") else { return Vec::new() };
        let (mut mails, mut names) = (Vec::new(), Vec::new());
        for one in all.text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            if let Some(program) = one.strip_prefix('|') {
                let words: Vec<String> = program.split_whitespace().map(ToString::to_string).collect();
                names.extend(self.receiver(node, "command", &format!("command = {}\n", list(&words))));
            } else if one.contains(':') {
                self.note(
                    node,
                    format!(
                        "alert {}: the receiver {} is not supported and was left out",
                        node.name,
                        comment(one)
                    ),
                );
            } else {
                mails.push(one.to_string());
            }
        }
        if !mails.is_empty() {
            let mut body = format!("mail = {}\n", list(&mails));
            body.extend(tree.inherited(place, "from").map(|from| format!("from = {}\n", quoted(&from.text))));
            let host = tree.top("General").and_then(|general| tree.inherited(general, "mailhost"));
            body.extend(host.map(|host| format!("relay = {}\n", quoted(&format!("{}:25", host.text)))));
            names.extend(self.receiver(node, "mail", &body));
        }
        names
    }
    /// The name of a receiver, if its table is valid.
    fn receiver(&mut self, node: &Node, way: &str, body: &str) -> Option<String> {
        if let Some(name) = self.receivers.get(body) {
            return Some(name.clone());
        }
        let count = self.receivers.values().filter(|name| name.starts_with(way)).count();
        let name = if count == 0 { way.to_string() } else { format!("{way}-{}", count + 1) };
        let table = format!("\n[[receiver]]\nname = {}\n{body}", quoted(&name));
        let one = self.targets.first().map(ConvertedTarget::alone).unwrap_or_default();
        if let Err(error) = fathom_watch_plan::parse(&format!("{one}{table}"), "") {
            self.note(node, format!("alert {}: {way} was left out: {}", node.name, error.what));
            return None;
        }
        if way == "command" {
            let what = "the program gets different arguments than from SmokePing: see docs/watch.md";
            self.note(node, format!("alert {}: {what}", node.name));
        }
        self.out.push_str(&table);
        self.receivers.insert(body.to_string(), name.clone());
        Some(name)
    }
}
