//! The sender step by step, by hand or from packetdrill's scripts: `golden/tcp/*.repair`.
//!
//! ```text
//! sender cubic rtt 100ms         # after the handshake; packets of 1000 bytes, numbered from 0
//! write 10           | send 0-9
//! +110ms sack 1      | -              | state Disorder, cwnd 10
//! +40ms              | @27ms resend 0 | lost 0
//! ```
//! `+TIME` passes first; packets sent meanwhile have their times. `ack 3 sack 5-6,8 ece dsack` ACKs
//! packets 0 to 2 cumulatively. An ACK echoes the last transmission of the packet that advanced the
//! cumulative ACK; with `echo original` the first. The third column queries the sender.
use fathom_tcp::{Ack, AnyControl, ControlConfig, Data, SackRange, Sender, SenderConfig};
use fathom_units::{Duration, Time};
use std::path::Path;

const MSS: u64 = 1_000;

struct Script {
    sender: Sender,
    now: Time,
    /// When each packet was sent, each time.
    sent: Vec<Vec<Time>>,
    acked: usize,
    echo: Time,
    window: u64,
}

/// The value after `name`.
fn value<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == name).map(|at| words[at + 1])
}

fn range(text: &str) -> (usize, usize) {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    (first.parse().unwrap(), last.parse().unwrap())
}

/// Formats numbers as `0-3 7`.
fn spans(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let text = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(" ")
}

impl Script {
    fn begin(words: &[&str]) -> Self {
        let rtt: Duration = value(words, "rtt").unwrap().parse().unwrap();
        let control = ControlConfig { mss: MSS as u32, ..Default::default() };
        let config = SenderConfig {
            mss: MSS as u32,
            ecn: words.contains(&"ecn"),
            paced: words.contains(&"paced"),
            ..Default::default()
        };
        let control = AnyControl::new(words[0].parse().unwrap(), &control);
        let mut script = Script {
            sender: Sender::new(config, control, Time::ZERO),
            now: Time::ZERO,
            sent: Vec::new(),
            acked: 0,
            echo: Time::ZERO,
            window: 1 << 30,
        };
        assert!(script.sender.poll_transmit(Time::ZERO).is_some_and(|data| data.syn));
        script.now += rtt;
        script.acknowledge(&["syn"]);
        script
    }

    fn acknowledge(&mut self, words: &[&str]) {
        let cumulative = value(words, "ack").map_or(self.acked, |count| count.parse().unwrap());
        if cumulative > self.acked {
            let times = &self.sent[self.acked];
            let is_original = value(words, "echo") == Some("original");
            self.echo = if is_original { times[0] } else { *times.last().unwrap() };
            self.acked = cumulative;
        }
        if let Some(window) = value(words, "window") {
            self.window = window.parse::<u64>().unwrap() * MSS;
        }
        let mut sack = [SackRange::default(); 3];
        let ranges = value(words, "sack").unwrap_or_default();
        for (slot, (first, last)) in sack.iter_mut().zip(ranges.split_terminator(',').map(range)) {
            let offset = |packet: usize| ((packet - cumulative) as u64 * MSS) as u32;
            *slot = SackRange { start: offset(first), end: offset(last + 1) };
        }
        let ack = Ack {
            ack: cumulative as u64 * MSS,
            sack,
            dsack: words.contains(&"dsack"),
            echo: self.echo,
            received_at: self.now,
            ece: words.contains(&"ece"),
            window: self.window,
            syn: words.contains(&"syn"),
        };
        self.sender.on_ack(&ack, self.now);
    }

    /// What is sent now.
    fn transmit(&mut self) -> Vec<String> {
        let (mut new, mut again, mut events) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(Data { seq, .. }) = self.sender.poll_transmit(self.now) {
            let number = (seq / MSS) as usize;
            if number == self.sent.len() {
                self.sent.push(Vec::new());
                new.push(number);
            } else {
                again.push(number);
            }
            self.sent[number].push(self.now);
        }
        if !again.is_empty() {
            events.push(format!("resend {}", spans(&again)));
        }
        if !new.is_empty() {
            events.push(format!("send {}", spans(&new)));
        }
        events
    }

    fn pass(&mut self, step: Duration) -> Vec<String> {
        let begin = self.now;
        let until = begin + step;
        let mut events = Vec::new();
        while let Some(at) = self.sender.next_timer().filter(|at| *at < until) {
            self.now = self.now.max(at);
            self.sender.on_timer(self.now);
            let offset = self.now - begin;
            events.extend(self.transmit().into_iter().map(|what| format!("@{offset} {what}")));
        }
        self.now = until;
        events
    }

    fn act(&mut self, action: &str) -> String {
        let mut words: Vec<&str> = action.split_whitespace().collect();
        let mut events = Vec::new();
        if let Some(step) = words.first().and_then(|word| word.strip_prefix('+')) {
            events = self.pass(step.parse().unwrap());
            words.remove(0);
        }
        match words.first() {
            None => {}
            Some(&"write") => self.sender.write(words[1].parse::<u64>().unwrap() * MSS),
            Some(_) => self.acknowledge(&words),
        }
        if !words.is_empty() {
            events.extend(self.transmit());
        }
        if events.is_empty() { "-".to_string() } else { events.join(", ") }
    }

    fn answer(&self, question: &str) -> String {
        let window = self.sender.window();
        let value = match question {
            "state" => format!("{:?}", self.sender.recovery()),
            "cwnd" => window.cwnd.to_string(),
            "ssthresh" if window.ssthresh == u32::MAX => "-".to_string(),
            "ssthresh" => window.ssthresh.to_string(),
            "flight" => self.sender.in_flight().to_string(),
            "lost" => self.sender.lost().to_string(),
            "resent" => self.sender.retransmits().to_string(),
            other => panic!("unknown question {other}"),
        };
        format!("{question} {value}")
    }
}

fn run(file: &Path) {
    let mut script: Option<Script> = None;
    for (number, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
        let place = format!("{}:{}: {line}", file.display(), number + 1);
        let line = line.split('#').next().unwrap().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(sender) = line.strip_prefix("sender ") {
            script = Some(Script::begin(&sender.split_whitespace().collect::<Vec<_>>()));
            continue;
        }
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let script = script.as_mut().unwrap_or_else(|| panic!("{place}: no sender yet"));
        assert_eq!(script.act(parts[0]), parts[1], "{place}");
        for question in parts.get(2).copied().unwrap_or_default().split_terminator(',').map(str::trim) {
            let name = question.split_whitespace().next().unwrap();
            assert_eq!(script.answer(name), question, "{place}");
        }
    }
}

#[test]
fn repairs_match_the_golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/tcp");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "repair")).collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    files.iter().for_each(|path| run(path));
}
