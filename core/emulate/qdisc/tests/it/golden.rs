//! Handwritten timelines in `golden/qdisc/*.txt`: what each discipline does, and when.
//!
//! ```text
//! qdisc fifo limit 2p
//! 0ms | enqueue a 1000b        | -
//! 5ms | dequeue                | send a 5ms
//! ```
//! `enqueue a 1000b flow 3 ect` specifies a flow and an ECN-capable packet (`ect1` is L4S, `ce` is
//! already marked); `enqueue a1..a9 1000b` enqueues nine packets; `dequeue 3` dequeues three times;
//! `next` prints when to dequeue again. `qdisc` starts over with an empty queue.
//!
//! Also: `dscp 46`, `ip 1500b` (the IP packet's size), `src 1 dst 2` (hosts), and for a pure ACK
//! `ack 1000`, optionally with `sack 2000-3000,5000-6000`, `ts 7`, `ece` and `options`.
use crate::common::{Header, TestPacket, build, dequeue, enqueue, packet};
use fathom_qdisc::{AnyQdisc, Ecn, PureAck, Qdisc};
use fathom_units::{Bytes, Duration, Time};
use std::fmt::Debug;
use std::path::Path;
use std::str::FromStr;

fn packets(words: &[&str]) -> Vec<TestPacket> {
    let names: Vec<String> = match words[0].split_once("..") {
        None => vec![words[0].to_string()],
        Some((first, last)) => {
            let letter = &first[..1];
            let number = |name: &str| name[1..].parse::<u32>().unwrap();
            (number(first)..=number(last)).map(|n| format!("{letter}{n}")).collect()
        }
    };
    let len: Bytes = words[1].parse().unwrap();
    let flow = value(words, "flow").unwrap_or(0);
    let codes = [("ect", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];
    let ecn = codes.into_iter().find(|(word, _)| words.contains(word)).map_or(Ecn::NotEct, |(_, ecn)| ecn);
    let named = |name| TestPacket { ecn, header: header(words, flow), ..packet(name, flow, len.get()) };
    names.into_iter().map(named).collect()
}

/// The value after `name`.
fn value<T: FromStr<Err: Debug>>(words: &[&str], name: &str) -> Option<T> {
    let at = words.iter().position(|word| *word == name)?;
    Some(words[at + 1].parse().unwrap())
}

fn header(words: &[&str], flow: u64) -> Header {
    let hosts = value(words, "src").map(|source| [source, value(words, "dst").unwrap()]);
    let ack = value(words, "ack").map(|ack| pure_ack(words, flow, ack));
    Header { dscp: value(words, "dscp").unwrap_or(0), ip_len: value(words, "ip"), hosts, ack }
}

fn pure_ack(words: &[&str], connection: u64, ack: u32) -> PureAck {
    let mut sack = [(0, 0); 4];
    let blocks: String = value(words, "sack").unwrap_or_default();
    for (place, block) in blocks.split_terminator(',').enumerate() {
        let (start, end) = block.split_once('-').unwrap();
        sack[place] = (start.parse().unwrap(), end.parse().unwrap());
    }
    PureAck {
        connection,
        ack,
        ecn_flags: u8::from(words.contains(&"ece")),
        sack,
        timestamp: value(words, "ts"),
        other_options: words.contains(&"options"),
    }
}

fn act(queue: &mut AnyQdisc<TestPacket>, action: &str, now: Time) -> String {
    let words: Vec<&str> = action.split_whitespace().collect();
    let results: Vec<String> = match words[0] {
        "enqueue" => packets(&words[1..]).into_iter().map(|p| enqueue(queue, p, now)).collect(),
        "dequeue" => {
            let times = words.get(1).map_or(1, |times| times.parse().unwrap());
            (0..times).map(|_| dequeue(queue, now)).collect()
        }
        "next" => vec![queue.next_ready(now).map_or("never".into(), |next| next.to_string())],
        other => panic!("unknown action {other}"),
    };
    let events: Vec<String> = results.into_iter().filter(|result| result != "-").collect();
    if events.is_empty() { "-".to_string() } else { events.join(", ") }
}

fn run(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut queue = build("fifo limit 1p");
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.display(), number + 1);
        let line = line.split('#').next().unwrap().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(spec) = line.strip_prefix("qdisc ") {
            queue = build(spec);
            continue;
        }
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [time, action, expected] = columns[..] else { panic!("{place}: three columns: {line}") };
        let now = Time::ZERO + time.parse::<Duration>().unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(act(&mut queue, action, now), expected, "{place}: {line}");
    }
}

#[test]
fn handwritten_timelines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/qdisc");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    files.iter().for_each(|path| run(path));
}
