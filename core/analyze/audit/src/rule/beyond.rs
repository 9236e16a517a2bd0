//! Containers, flow offload, what lies beyond, and who sets queues: places 23 to 26.
use super::Context;
use crate::facts::Kind;
use crate::place::{Level, Place, Spot};
use crate::quote::quoted;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_text::rate;

pub(super) fn places(context: &Context<'_>) -> Vec<Place> {
    [containers, flow_offload, line, managers].iter().filter_map(|rule| rule(context)).collect()
}

fn containers(context: &Context<'_>) -> Option<Place> {
    let host = &context.facts.host;
    let userland = ["slirp4netns", "pasta", "passt"].into_iter().find(|program| host.runs(program));
    let is_inside = host.is_container || context.facts.way_out().is_some_and(|out| out.kind == Kind::Veth);
    let has_engine = ["dockerd", "containerd", "podman"].iter().any(|program| host.runs(program));
    let place = |what: String| Place::new(Spot::Containers, None, what);
    if let Some(program) = userland {
        return Some(
            place(format!("{program} carries containers' packets through sockets of its own"))
                .level(Level::Unknown)
                .why("what it buffers stands in no file: measure from inside a container"),
        );
    }
    match (is_inside, has_engine) {
        (true, _) => Some(
            place("this is the inside of a container or of a namespace".to_string())
                .why("its packets queue at the host's way out: run the audit there"),
        ),
        (false, true) => Some(
            place("containers share the host's way out".to_string())
                .why("a queue that keeps flows apart there keeps containers apart too"),
        ),
        _ => None,
    }
}

fn flow_offload(context: &Context<'_>) -> Option<Place> {
    let host = &context.facts.host;
    let cards = context.facts.up().filter(|i| i.has_hw_offload).map(|i| i.name.clone()).collect::<Vec<_>>();
    if host.offload_files.is_empty() && host.offloaded == 0 && host.flow_tables.is_empty() {
        let why =
            format!("hw-tc-offload is on for {}, which is what a hardware shaper needs", cards.join(", "));
        let quiet = Place::new(Spot::FlowOffload, None, "no connection bypasses the queue disciplines");
        return host.is_forwarding.then(|| if cards.is_empty() { quiet } else { quiet.why(why) });
    }
    let tables = host.flow_tables.iter().map(|table| format!("flow table {table}"));
    let files = host.offload_files.iter().map(|file| (*file).to_string());
    let count =
        (host.offloaded > 0).then(|| format!("offloaded connections: {} of the first 20", host.offloaded));
    let what = tables.chain(files).chain(count).collect::<Vec<String>>().join("; ");
    let place = Place::new(Spot::FlowOffload, None, what)
        .level(Level::Bad)
        .why("these packets go past every queue discipline: a shaper would shape nothing");
    Some(if host.offload_files.contains(&"/etc/config/firewall") {
        place.fix(uci("0"), uci("1"))
    } else {
        place.fix(
            "delete the flowtable from the rules (nft list flowtables), if a shaper is to work",
            "put it back",
        )
    })
}

fn uci(value: &str) -> String {
    format!(
        "uci set firewall.@defaults[0].flow_offloading={value} && uci commit firewall && service firewall restart"
    )
}

/// The line beyond: nothing there can be read, but a slower line is where the queue stands.
fn line(context: &Context<'_>) -> Option<Place> {
    let out = context.facts.way_out()?;
    let place = |what: String| Place::new(Spot::Beyond, Some(&out.name), what).level(Level::Unknown);
    let link = context.rate_of_link(out);
    let Some(line) = context.rates.line() else {
        let why = "if the line behind it is slower than the link, the queue stands there: --rate RATE";
        return Some(place("what is behind it cannot be read".to_string()).why(why));
    };
    let mismatch = link.map(|rate| rate.as_bits_per_second() as f64 / line.as_bits_per_second() as f64);
    let beyond = place(format!("the line of {} behind it", rate(line.as_bits_per_second() as f64)));
    let found = Place { mismatch, ..beyond };
    Some(match mismatch {
        Some(ratio) if ratio <= 1.0 => found.level(Level::Quiet).why("not slower than the link: the queue stands here"),
        Some(_) => found
            .level(Level::Bad)
            .why("slower than the link: the queue that everything waits in is there, in a modem or access point that no file reaches. Measure what it carries: fathom test")
            .fix(shaped_below(out, line), format!("fathom fix --undo {}", quoted(&out.name))),
        None => found.why("whether it is slower than the link no file tells: --rate NAME=RATE"),
    })
}

/// A little below the line's rate; what it really carries is to be measured first.
fn shaped_below(out: &crate::facts::Interface, line: fathom_units::Rate) -> String {
    let below = fathom_units::Rate::from_bits_per_second(line.as_bits_per_second() / 100 * 95);
    format!("fathom fix {} --up {}", quoted(&out.name), below.to_string().to_lowercase())
}

impl Context<'_> {
    /// Without what the user says of the line: the link by itself.
    fn rate_of_link(&self, interface: &crate::facts::Interface) -> Option<fathom_units::Rate> {
        let shaped = interface.qdiscs.iter().find(|qdisc| qdisc.is_root()).and_then(|root| root.rate);
        let is_made_up = matches!(interface.kind, Kind::Veth | Kind::Tap | Kind::Tun);
        shaped
            .or(interface.bitrate)
            .or(interface.speed.filter(|_| !is_made_up))
            .or_else(|| self.fastest_card())
    }
    fn fastest_card(&self) -> Option<fathom_units::Rate> {
        self.facts
            .up()
            .filter(|interface| interface.kind.has_ring())
            .filter_map(|interface| interface.speed)
            .max()
    }
}

/// Programs that give an interface their own queue discipline when it comes up or is set up anew.
const MANAGERS: [(&str, &str); 6] = [
    ("NetworkManager", "NetworkManager"),
    ("systemd-network", "systemd-networkd"),
    ("cake-autorate", "cake-autorate"),
    ("sqm-autorate", "sqm-autorate"),
    ("qosify", "qosify"),
    ("connmand", "ConnMan"),
];

fn managers(context: &Context<'_>) -> Option<Place> {
    let host = &context.facts.host;
    let running: Vec<&str> =
        MANAGERS.iter().filter(|(start, _)| host.runs(start)).map(|(_, name)| *name).collect();
    if running.is_empty() && host.manager_files.is_empty() {
        return None;
    }
    let names = running.iter().map(|name| format!("{name} runs"));
    let all: Vec<String> =
        names.chain(host.manager_files.iter().map(|file| format!("{file} sets queues"))).collect();
    let place = Place::new(Spot::Managers, None, all.join(", "));
    Some(if host.manager_files.is_empty() {
        place.why(
            "none of its files sets queues; one that does would replace yours when the interface comes up",
        )
    } else {
        place
            .level(Level::Dark)
            .why("it replaces other queue disciplines when the interface comes up: change it there")
    })
}
