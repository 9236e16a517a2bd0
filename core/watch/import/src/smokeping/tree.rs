//! Parses lines to sections: `*** Targets ***`, `+ name`, `++ name`, and the variables of each.
use super::line::{Line, Load, Mistake, Note, Place, lines};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Deeper than any usable SmokePing menu.
const MAX_DEPTH: usize = 64;

/// The value of a variable, with its position.
#[derive(Clone)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) place: Place,
}

/// A section.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) place: Place,
    /// Level: 1 for `*** name ***`, 2 for `+ name`, ...
    level: usize,
    parent: Option<usize>,
    pub(super) values: BTreeMap<String, Value>,
    /// Lines that are not variables: table rows.
    pub(super) rows: Vec<Value>,
}

/// All sections, each after its parent.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
}

/// Reads a file and the files it includes.
pub(super) fn read(file: &str, load: Load<'_>, notes: &mut Vec<Note>) -> Result<Tree, Mistake> {
    let mut tree = Tree::default();
    let mut open: Vec<usize> = Vec::new();
    let mut known: BTreeMap<(Option<usize>, String), Place> = BTreeMap::new();
    for line in lines(file, load)? {
        let Some((level, name)) = heading(&line.text) else {
            tree.inside(&open, line, notes);
            continue;
        };
        if level > open.len() + 1 || level > MAX_DEPTH {
            let what = format!("{}: the section skips a nesting level", line.text);
            return Err(Mistake { place: line.place, what });
        }
        open.truncate(level - 1);
        let parent = open.last().copied();
        if let Some(other) = known.insert((parent, name.clone()), line.place.clone()) {
            let what = format!("{}: duplicate section, first defined at {other}", line.text);
            return Err(Mistake { place: line.place, what });
        }
        open.push(tree.nodes.len());
        let (values, rows) = (BTreeMap::new(), Vec::new());
        tree.nodes.push(Node { name, place: line.place, level, parent, values, rows });
    }
    Ok(tree)
}

fn heading(text: &str) -> Option<(usize, String)> {
    let first = text.strip_prefix("***").and_then(|rest| rest.strip_suffix("***"));
    if let Some(first) = first {
        return Some((1, first.trim().to_string()));
    }
    let name = text.trim_start_matches('+');
    let level = text.len() - name.len();
    (level > 0).then(|| (level + 1, name.trim().to_string()))
}

impl Tree {
    fn inside(&mut self, open: &[usize], line: Line, notes: &mut Vec<Note>) {
        let Line { place, text } = line;
        let Some(node) = open.last().and_then(|last| self.nodes.get_mut(*last)) else {
            notes.push(Note { place, what: format!("{text}: not in a section; left out") });
            return;
        };
        let assigned = text.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        match assigned.filter(|(key, _)| !key.is_empty() && !key.contains(char::is_whitespace)) {
            Some((key, value)) => {
                node.values.insert(key.to_string(), Value { text: value.to_string(), place });
            }
            None => node.rows.push(Value { text, place }),
        }
    }
    /// Index of a top-level section.
    pub(super) fn top(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.level == 1 && node.name == name)
    }
    /// A section and its ancestors, innermost first.
    pub(super) fn outwards(&self, place: usize) -> impl Iterator<Item = &Node> {
        let mut next = Some(place);
        core::iter::from_fn(move || {
            let node = self.nodes.get(next?)?;
            next = node.parent;
            Some(node)
        })
    }
    /// A variable of a section or of its nearest ancestor that sets it.
    pub(super) fn inherited(&self, place: usize, key: &str) -> Option<&Value> {
        self.outwards(place).find_map(|node| node.values.get(key))
    }
    /// The sections below a top-level section, at any depth.
    pub(super) fn within(&self, top: usize) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().skip(top + 1).take_while(|(_, node)| node.level > 1)
    }
    /// The names from below the top level to a section.
    pub(super) fn path(&self, place: usize) -> Vec<&str> {
        let mut path: Vec<&str> =
            self.outwards(place).filter(|n| n.level > 1).map(|n| n.name.as_str()).collect();
        path.reverse();
        path
    }
    /// Level of a section: 1 for `*** name ***`, 2 for `+ name`, ...
    pub(super) fn level(&self, place: usize) -> usize {
        self.nodes.get(place).map_or(0, |node| node.level)
    }
}
