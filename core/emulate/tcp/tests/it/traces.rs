//! Windows after each ACK, by hand or from packetdrill's published scripts: `golden/tcp/*.trace`.
//!
//! ```text
//! control cubic hz 1000 (or `rounds-from-16`: the rounds of an older HyStart)
//! write 400        | cwnd 10
//! +100ms ack 2 x5  | cwnd 20, ssthresh -
//! ```
//! `+TIME` passes first; `ack 2 x5` is five ACKs for two packets each, `TIME` apart; `ce` marks
//! them; `write` adds packets to send; `lose` is a fast recovery that ends at once, `timeout` a
//! retransmission timeout. `ssthresh -` is none yet.
use crate::path::Path;
use fathom_tcp::{ControlConfig, Recovery, SlowStartExit};
use fathom_units::Duration;

fn begin(line: &str) -> Path {
    let words: Vec<&str> = line.split_whitespace().collect();
    let hz: u64 =
        words.iter().position(|word| *word == "hz").map_or(1000, |at| words[at + 1].parse().unwrap());
    let had_rounds = words.contains(&"rounds-from-16");
    let slow_start_exit = if had_rounds { SlowStartExit::HyStartFrom16 } else { SlowStartExit::HyStart };
    let granularity = Duration::from_nanos(1_000_000_000 / hz);
    let config = ControlConfig { granularity, slow_start_exit, ..Default::default() };
    Path::new(words[0].parse().unwrap(), &config)
}

fn act(path: &mut Path, action: &str) {
    let mut words = action.split_whitespace().peekable();
    let step = words.next_if(|word| word.starts_with('+'));
    let step = step.map_or(Duration::ZERO, |word| word[1..].parse().unwrap());
    let verb = words.next().unwrap_or("wait");
    let words: Vec<&str> = words.collect();
    let times = words.iter().find_map(|word| word.strip_prefix('x')).map_or(1, |n| n.parse().unwrap());
    for _ in 0..times {
        path.now += step;
        match verb {
            "wait" => {}
            "write" => path.write(words[0].parse().unwrap()),
            "ack" => {
                path.ack(words[0].parse().unwrap(), None, words.contains(&"ce"));
                path.recovery = Recovery::Open;
            }
            "lose" => path.lose(),
            "timeout" => path.time_out(),
            other => panic!("unknown action {other}"),
        }
    }
}

fn observed(path: &Path, expected: &str) -> String {
    let value = |name: &str| match name {
        "cwnd" => path.window.cwnd.to_string(),
        "ssthresh" if path.window.ssthresh == u32::MAX => "-".to_string(),
        "ssthresh" => path.window.ssthresh.to_string(),
        other => panic!("unknown value {other}"),
    };
    let names = expected.split(',').map(|part| part.split_whitespace().next().unwrap());
    names.map(|name| format!("{name} {}", value(name))).collect::<Vec<_>>().join(", ")
}

fn run(file: &std::path::Path) {
    let mut path: Option<Path> = None;
    for (number, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
        let place = format!("{}:{}: {line}", file.display(), number + 1);
        let line = line.split('#').next().unwrap().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(control) = line.strip_prefix("control ") {
            path = Some(begin(control));
            continue;
        }
        let (action, expected) = line.split_once('|').unwrap_or((line, ""));
        let path = path.as_mut().unwrap_or_else(|| panic!("{place}: no control yet"));
        act(path, action.trim());
        let expected = expected.trim();
        if !expected.is_empty() {
            assert_eq!(observed(path, expected), expected, "{place}");
        }
    }
}

#[test]
fn windows_match_the_golden_traces() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/tcp");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "trace")).collect();
    files.sort();
    assert!(files.len() >= 2, "{files:?}");
    files.iter().for_each(|path| run(path));
}
