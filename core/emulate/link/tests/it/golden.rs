//! Handwritten timelines in `golden/link/*.txt`: when the packets of a hop leave.
//!
//! ```text
//! hop rate 8mbit half
//! 0ms | up a 1000b, down b 1000b | a 1ms, b 2ms
//! ```
//! Time, arrivals, and when each of them leaves. `a1..a3 1000b` are three packets. See `kinds.rs`
//! for the kinds.
use crate::common::{TestPacket, at, packet};
use crate::kinds::kind;
use fathom_link::Line;
use fathom_units::{Bytes, Time};
use std::collections::BTreeMap;
use std::path::Path;

/// A hop, its packets, and the expected departures: line, name, time.
struct Story {
    line: Line<TestPacket>,
    names: Vec<String>,
    expected: Vec<(String, String, Time)>,
}

impl Story {
    fn arrive(&mut self, now: Time, arrivals: &str) {
        for arrival in arrivals.split(", ") {
            let words: Vec<&str> = arrival.split_whitespace().collect();
            let direction = words[0].parse().unwrap();
            let len: Bytes = words[2].parse().unwrap();
            for name in names(words[1]) {
                self.names.push(name);
                self.line.enter(direction, packet(self.names.len() as u64 - 1, len.get()), now);
            }
        }
    }
    fn check(mut self) {
        let mut out = BTreeMap::new();
        self.line.advance(Time::MAX, &mut (), &mut |_, packet, time| {
            out.insert(self.names[packet.id as usize].clone(), time);
        });
        for (place, name, time) in self.expected {
            assert_eq!(out.get(&name), Some(&time), "{place}: {name}");
        }
    }
}

fn names(word: &str) -> Vec<String> {
    let Some((first, last)) = word.split_once("..") else { return vec![word.to_owned()] };
    let number = |name: &str| name[1..].parse::<u32>().unwrap();
    (number(first)..=number(last)).map(|n| format!("{}{n}", &first[..1])).collect()
}

fn run(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut story: Option<Story> = None;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.display(), number + 1);
        let line = line.split('#').next().unwrap().trim();
        if let Some(words) = line.strip_prefix("hop ") {
            story.take().into_iter().for_each(Story::check);
            story = Some(Story { line: kind(words).line(1), names: vec![], expected: vec![] });
        } else if !line.is_empty() {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let [time, arrivals, outs] = columns[..] else { panic!("{place}: three columns") };
            let story = story.as_mut().expect("a hop first");
            story.arrive(at(time), arrivals);
            for out in outs.split(", ") {
                let (word, due) = out.split_once(' ').unwrap();
                story.expected.extend(names(word).into_iter().map(|name| (place.clone(), name, at(due))));
            }
        }
    }
    story.into_iter().for_each(Story::check);
}

#[test]
fn handwritten_timelines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/link");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    files.iter().for_each(|path| run(path));
}
