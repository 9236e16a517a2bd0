//! Reads the rates of a configuration, independently of what writes it: by the rules of each
//! platform's documentation.
use fathom_shaper_export::Platform;

/// Rates in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Rates {
    pub(crate) up: Option<u64>,
    pub(crate) down: Option<u64>,
}

/// The text after `start` until a letter that no number has.
fn number(text: &str, start: &str) -> Option<u64> {
    let rest = &text[text.find(start)? + start.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The part of a text after the first `start`.
fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    Some(&text[text.find(start)? + start.len()..])
}

/// Bit/s of a rate of tc such as `9.5Mbit`. The kernel keeps bytes.
fn of_tc(word: &str) -> Option<u64> {
    let at = word.find(|c: char| c.is_ascii_alphabetic())?;
    let (whole, part) = word[..at].split_once('.').unwrap_or((&word[..at], ""));
    let digits = match &word[at..] {
        "bit" => 0,
        "Kbit" => 3,
        "Mbit" => 6,
        "Gbit" => 9,
        _ => return None,
    };
    format!("{whole}{part:0<digits$}").parse().ok()
}

/// The configuration without its comments.
fn without_comments(platform: Platform, text: &str) -> String {
    let (open, close) = match platform {
        Platform::Opnsense | Platform::Pfsense => ("<!--", "-->"),
        Platform::Junos => ("/*", "*/"),
        _ => {
            let mark = if platform == Platform::Cisco { '!' } else { '#' };
            return text
                .lines()
                .filter(|line| !line.starts_with(mark))
                .map(|line| format!("{line}\n"))
                .collect();
        }
    };
    let (start, rest) = text.split_once(open).expect("a comment");
    let (comment, end) = rest.split_once(close).expect("its end");
    // XML forbids two dashes in a comment.
    assert!(!comment.contains("--"), "{comment}");
    format!("{start}{end}")
}

pub(crate) fn rates(platform: Platform, text: &str) -> Rates {
    let text = &without_comments(platform, text);
    let both = |up: Option<u64>, down: Option<u64>| Rates { up, down };
    let kbits = |key: &str| number(text, &format!("option {key} '")).filter(|n| *n > 0).map(|n| n * 1_000);
    let between = |start: &str, end: &str, key: &str| {
        after(text, start).and_then(|rest| number(rest.split(end).next().unwrap_or_default(), key))
    };
    match platform {
        Platform::OpenwrtSqm => both(kbits("upload"), kbits("download")),
        Platform::Mikrotik => both(
            between("/queue tree add name=fathom-up", "\n", "max-limit="),
            between("/queue tree add name=fathom-down", "\n", "max-limit="),
        ),
        Platform::Vyos => both(number(text, "FATHOM-UP bandwidth "), number(text, "FATHOM-DOWN bandwidth ")),
        Platform::Opnsense => {
            let pipe = |name: &str| {
                let at = text.find(&format!("<description>fathom {name}</description>"))?;
                let pipe = &text[text[..at].rfind("<pipe uuid")?..at];
                pipe.contains("<bandwidthMetric>bit<").then(|| number(pipe, "<bandwidth>")).flatten()
            };
            both(pipe("up"), pipe("down"))
        }
        Platform::Pfsense => {
            let limiter = |name: &str| {
                let limiter = after(text, &format!("<name>fathom_{name}</name>"))?;
                limiter.contains("<bwscale>b<").then(|| number(limiter, "<bw>")).flatten()
            };
            both(limiter("up"), limiter("down"))
        }
        Platform::Edgeos => both(number(text, "FATHOM upload rate "), number(text, "FATHOM download rate ")),
        Platform::Cisco => both(
            between("policy-map FATHOM-UP\n", "\ninterface", "shape average "),
            between("policy-map FATHOM-DOWN\n", "\ninterface", "shape average "),
        ),
        Platform::Junos => both(
            between("scheduler-map fathom-up;", "}", "shaping-rate "),
            between("scheduler-map fathom-down;", "}", "shaping-rate "),
        ),
        Platform::LinuxTc => {
            let of = |device: &str| {
                after(text, &format!("tc qdisc replace dev {device} root cake bandwidth "))
                    .and_then(|rest| rest.split(' ').next())
                    .and_then(of_tc)
            };
            both(of("eth0"), of("ifb-eth0"))
        }
        Platform::SystemdNetworkd => both(
            between("fathom-eth0.conf", "END\n", "Bandwidth="),
            between("70-fathom-ifb-eth0.network ", "END\n", "Bandwidth="),
        ),
        Platform::NetworkManager => both(number(text, "tbf rate ").map(|bytes| bytes * 8), None),
    }
}
