//! Pipes, queues and rules of the traffic shaper in `config.xml`. Fields and their limits: the
//! model `OPNsense/TrafficShaper/TrafficShaper.xml`. Rules lead to a queue, not to the pipe: a pipe
//! itself is a FIFO.
use crate::comment::{About, Style, comment};
use crate::shaper::{Shaper, whole_milliseconds};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_shape::{Codel, codel};
use fathom_units::{Direction, PerDirection, Rate};

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let about = About {
        unit: "bit/s, at most 4294967295 (2147483647 on FreeBSD 12 and earlier)",
        limits: &[
            "the queue is fair between flows, not between hosts, and weights have no effect.",
            "some releases show a shaper but send no packets through it: see Firewall, Shaper, Status during the test.",
        ],
        apply: "enter these fields in Firewall, Shaper: Pipes, then Queues, then Rules; or download the configuration \
                (System, Configuration, Backups), merge these elements into the TrafficShaper that it has, and restore it.",
        undo: "delete the entries with the description fathom in Rules, Queues and Pipes, then Apply.",
    };
    let rates = PerDirection { up: shaper.up, down: shaper.down };
    let sides = || rates.iter().filter_map(|(direction, rate)| Some((direction, (*rate)?)));
    let pipes: String = sides().map(|(direction, rate)| pipe(shaper, direction, rate)).collect();
    let queues: String = sides().map(|(direction, _)| queue(direction)).collect();
    let rules: String = sides().map(|(direction, _)| rule(shaper, direction)).collect();
    let comment = comment(Style::Block("<!--", "-->"), shaper, &about);
    format!(
        "<?xml version=\"1.0\"?>\n{comment}<opnsense>\n <OPNsense>\n  <TrafficShaper version=\"1.0.3\">\n   \
         <pipes>\n{pipes}   </pipes>\n   <queues>\n{queues}   </queues>\n   <rules>\n{rules}   </rules>\n  \
         </TrafficShaper>\n </OPNsense>\n</opnsense>\n"
    )
}

/// An identifier of an entry: of a kind, 1 to 3, and a direction.
fn uuid(kind: u8, direction: Direction) -> String {
    format!("fa7403e0-0000-4000-8000-0000000000{kind}{}", direction.index())
}

/// Numbers of pipes and queues that others seldom have: up to 65535 is allowed.
const NUMBER: usize = 64_001;

fn element(indent: &str, fields: &[(&str, &str)]) -> String {
    let field = |(name, value): &(&str, &str)| {
        if value.is_empty() {
            format!("{indent}<{name}/>\n")
        } else {
            format!("{indent}<{name}>{value}</{name}>\n")
        }
    };
    fields.iter().map(field).collect()
}

fn pipe(shaper: &Shaper<'_>, direction: Direction, rate: Rate) -> String {
    let Codel { target, interval, quantum } = codel(rate, shaper.round_trip);
    let ms = |time: Option<_>| time.map(|time| whole_milliseconds(time).to_string()).unwrap_or_default();
    let fields = element(
        "     ",
        &[
            ("number", &(NUMBER + direction.index()).to_string()),
            ("enabled", "1"),
            ("bandwidth", &rate.as_bits_per_second().to_string()),
            ("bandwidthMetric", "bit"),
            ("queue", ""),
            ("mask", "none"),
            ("buckets", ""),
            ("scheduler", "fq_codel"),
            ("codel_enable", "0"),
            ("codel_target", &ms(target)),
            ("codel_interval", &ms(interval)),
            ("codel_ecn_enable", "1"),
            ("pie_enable", "0"),
            ("fqcodel_quantum", &quantum.map(|bytes| bytes.to_string()).unwrap_or_default()),
            ("fqcodel_limit", ""),
            ("fqcodel_flows", ""),
            ("origin", "TrafficShaper"),
            ("delay", ""),
            ("description", &format!("fathom {direction}")),
        ],
    );
    format!("    <pipe uuid=\"{}\">\n{fields}    </pipe>\n", uuid(1, direction))
}

fn queue(direction: Direction) -> String {
    let fields = element(
        "     ",
        &[
            ("number", &(NUMBER + direction.index()).to_string()),
            ("enabled", "1"),
            ("pipe", &uuid(1, direction)),
            ("weight", "100"),
            ("mask", "none"),
            ("buckets", ""),
            ("codel_enable", "0"),
            ("codel_target", ""),
            ("codel_interval", ""),
            ("codel_ecn_enable", "0"),
            ("pie_enable", "0"),
            ("description", &format!("fathom {direction}")),
            ("origin", "TrafficShaper"),
        ],
    );
    format!("    <queue uuid=\"{}\">\n{fields}    </queue>\n", uuid(2, direction))
}

fn rule(shaper: &Shaper<'_>, direction: Direction) -> String {
    let way = match direction {
        Direction::Up => "out",
        Direction::Down => "in",
    };
    let fields = element(
        "     ",
        &[
            ("enabled", "1"),
            ("sequence", &(direction.index() + 1).to_string()),
            ("interface", shaper.wan),
            ("interface2", ""),
            ("proto", "ip"),
            ("iplen", ""),
            ("source", "any"),
            ("source_not", "0"),
            ("src_port", "any"),
            ("destination", "any"),
            ("destination_not", "0"),
            ("dst_port", "any"),
            ("dscp", ""),
            ("direction", way),
            ("target", &uuid(2, direction)),
            ("description", &format!("fathom {direction}")),
            ("origin", "TrafficShaper"),
        ],
    );
    format!("    <rule uuid=\"{}\">\n{fields}    </rule>\n", uuid(3, direction))
}
