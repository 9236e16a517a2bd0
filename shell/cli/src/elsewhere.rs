//! Commands that need Linux, on other systems.
use std::ffi::OsString;

/// The commands, and why.
const ON_LINUX: [(&str, &str); 7] = [
    ("lab", "emulates lines with network namespaces of Linux; `fathom sim` simulates them here"),
    ("fix", "shapes with queue disciplines of Linux; run it on the router"),
    ("audit", "reads the queues of Linux"),
    ("watch", "runs on Linux only so far"),
    ("ecn", "uses raw sockets of Linux"),
    ("dut", "sends frames with packet sockets of Linux"),
    ("doctor", "looks for what Linux has"),
];

/// What to say about such a command.
pub(crate) fn refusal(words: &[OsString]) -> Option<String> {
    let first = words.get(1)?;
    let (name, why) = ON_LINUX.iter().find(|(name, _)| first == name)?;
    Some(format!("fathom {name}: {why}"))
}
