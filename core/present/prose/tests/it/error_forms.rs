//! The form of an error: its sentence without what it is about, values and causes.
use crate::variants::Likeness;

/// Errors differ in one place, so that no line states what no error does.
pub(crate) const ERRORS: Likeness = Likeness { max_choices: 1, min_saved_percent: 30 };

/// Titles of [`title`], in the order in which they are shown.
pub(crate) const TITLES: [&str; 11] = [
    "invalid values",
    "what is missing",
    "what is unknown",
    "limits",
    "files",
    "what is damaged",
    "versions and what is not supported",
    "the network",
    "rights",
    "the kernel and its interfaces",
    "others",
];

/// Parts of sentences of each title. The first one that fits is taken.
const MARKS: [(&str, &[&str]); 10] = [
    ("rights", &["permit", "root", "CAP_", "forbid", "chmod", "sudo", "password", "token", "log in"]),
    (
        "the kernel and its interfaces",
        &["kernel", "namespace", "interface", "qdisc", "TUN", "ICMP", "modprobe", "thread"],
    ),
    ("versions and what is not supported", &["support", "version"]),
    ("limits", &["exceed", "too ", "more than", "longer than", "at most", "at least", "limit", "only one"]),
    ("what is damaged", &["damaged", "truncated", "checksum", "malformed", "incomplete"]),
    ("what is missing", &["missing", "empty", "given", "no target", "needs", "require"]),
    ("what is unknown", &["unknown", "no such", "there is no", "not exist", "has no ", "not found"]),
    (
        "invalid values",
        &["invalid", "expected", "must", "not a", "out of range", "is not", "cannot be combined"],
    ),
    ("files", &["cannot ", "file", "directory", "disk"]),
    ("the network", &["server", "connect", "address", "host", "response", "reply", "port ", "session"]),
];

/// Words, one of which is in every sentence that states a failure. Without them a literal is a part
/// that fills a place of a sentence, such as `{expected}`.
const FAILURES: &str = " already are belongs cannot changed closed damaged differs do does dropped duplicate \
    empty ended error exceed exceeds exist expected failed forbids has have invalid is killed lacks larger longer lost \
    malformed misses missing must needs neither no not overwrite reached refused rejected require requires stopped \
    supported takes timeout too truncated unexpected unknown unsupported was were would wrong ";

/// Words after which a value was.
const OPEN_ENDS: &str =
    " in at to of from on since within than not has before = port signal try site, otherwise ";

/// Starts of a list of legal values or of an example, which is not shown.
const VALUES: [&str; 6] = ["(expected", "(known:", "(for example", "(such as", "(available:", "(allowed:"];

/// Names of values that a reader need not distinguish.
const NAMES: [(&str, &str); 4] = [
    ("error", " e error source without_code why reason problem message words "),
    ("path", " path file learned table "),
    (
        "limit",
        " limit max most max_bytes limit_bytes max_flows known FLOWS_LIMIT MAX_ROUNDS MAX_DEPTH MAX_BYTES MAX_HOURS \
         MAX_FILE_BYTES MAX_URI_BYTES HTTP_HEAD_LIMIT_BYTES FIRST_LINE_LIMIT_BYTES LONGEST_RUN_NS ",
    ),
    ("name", " name device interface "),
];

/// An error.
pub(crate) struct Sentence {
    /// What failed; `None` if the literal is only a part of a sentence.
    pub(crate) head: Option<String>,
    /// What to try.
    pub(crate) hint: Option<String>,
}

impl Sentence {
    pub(crate) fn new(template: &str) -> Sentence {
        let (mut head, hint) = match template.split_once("\\n  try: ") {
            Some((head, hint)) => (head.trim(), Some(hint)),
            None => (template.trim(), None),
        };
        // What the error is about comes first.
        while let Some((before, after)) = head.split_once(": ") {
            let is_context = !states_failure(before) && before.split(' ').count() <= 3;
            if !is_context || !after.contains(' ') {
                break;
            }
            head = after;
        }
        let mut head = head.to_owned();
        for start in VALUES {
            if let Some(at) = head.find(start) {
                let end = head[at..].rfind(')').map_or(head.len(), |end| at + end + 1);
                head.replace_range(at..end, "");
            }
        }
        // A literal that begins with "expected" is nothing but legal values.
        let is_sentence = states_failure(&head) && words(&head).count() > 1 && !head.starts_with("expected ");
        Sentence {
            head: is_sentence.then(|| shortened(&with_common_names(head.trim()))),
            hint: hint.map(|hint| hint.trim().to_owned()),
        }
    }
}

/// The title under which the head of a sentence is shown.
pub(crate) fn title(head: &str) -> &'static str {
    let is_of = |(_, marks): &&(&str, &[&str])| marks.iter().any(|mark| head.contains(mark));
    MARKS.iter().find(is_of).map_or("others", |(title, _)| title)
}

/// The words outside of placeholders.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let outside = text.split(['{', '}']).step_by(2);
    let words = outside.flat_map(|part| part.split(|letter: char| !letter.is_alphanumeric()));
    words.filter(|word| word.chars().any(char::is_alphabetic))
}

fn states_failure(text: &str) -> bool {
    words(text).any(|word| FAILURES.contains(&format!(" {word} ")))
}

/// A template with names of values that sentences share.
fn with_common_names(head: &str) -> String {
    let mut text = String::new();
    for (at, part) in head.split(['{', '}']).enumerate() {
        if at % 2 == 0 {
            text += part;
        } else {
            let is_of = |(_, all): &&(&str, &str)| all.contains(&format!(" {part} "));
            text += &format!("{{{}}}", NAMES.iter().find(is_of).map_or("value", |(name, _)| *name));
        }
    }
    text.replace("\"{", "{").replace("}\"", "}").replace("({value})", "")
}

/// Without the value or the cause at the end.
fn shortened(head: &str) -> String {
    const ENDS: [&str; 6] = [":", "{value}", "{error}", "({error})", ".", " "];
    let mut rest = head;
    while let Some(shorter) = ENDS.iter().find_map(|end| rest.strip_suffix(end)) {
        rest = shorter;
    }
    let last = rest.rsplit(' ').next().unwrap_or_default();
    let is_open = OPEN_ENDS.contains(&format!(" {last} "));
    format!("{rest}{}", if is_open { " ..." } else { "" })
}
