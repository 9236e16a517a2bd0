//! Configuration commands of VyOS. The nodes: `interface-definitions/qos.xml.in` of vyos-1x; the
//! order for ingress: "The case of ingress shaping" in its documentation.
use crate::comment::{About, Style, comment};
use crate::name::vyos;
use crate::shaper::{Shaper, whole_milliseconds};
use alloc::format;
use alloc::string::String;
use fathom_units::{Direction, Rate};

/// Interface that queues ingress.
const IFB: &str = "ifb0";

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let (kind, device, vlan) = vyos(shaper.wan).unwrap_or(("ethernet", shaper.wan, None));
    let vlan = vlan.map(|number| format!(" vif {number}")).unwrap_or_default();
    let redirect = format!("interfaces {kind} {device}{vlan} redirect");
    let mut undo = String::new();
    if shaper.up.is_some() {
        undo += &format!("\ndelete qos interface {} egress\ndelete qos policy cake FATHOM-UP", shaper.wan);
    }
    if shaper.down.is_some() {
        undo += &format!(
            "\ndelete {redirect}\ndelete qos interface {IFB}\ndelete qos policy cake FATHOM-DOWN\ndelete interfaces input {IFB}"
        );
    }
    let about = About {
        unit: "bit/s (a number without a suffix would be kbit/s)",
        limits: &[
            "it needs VyOS 1.4 or later (`set qos`).",
            "ifb0 must not be in use. Flow offloading of the firewall (flowtable) bypasses the queues.",
        ],
        apply: "in configuration mode, paste the commands, then the first of these, and the others after the test:\n\
                commit-confirm 10\nconfirm\nsave",
        undo: &format!("in configuration mode:{undo}\ncommit\nsave"),
    };
    let mut text = comment(Style::Lines("#"), shaper, &about);
    if let Some(rate) = shaper.up {
        text += &policy(shaper, Direction::Up, rate);
        text += &format!("set qos interface {} egress FATHOM-UP\n", shaper.wan);
    }
    if let Some(rate) = shaper.down {
        text += &policy(shaper, Direction::Down, rate);
        text += &format!(
            "set qos interface {IFB} egress FATHOM-DOWN\nset {redirect} {IFB}\nset interfaces input {IFB}\n"
        );
    }
    text
}

fn policy(shaper: &Shaper<'_>, direction: Direction, rate: Rate) -> String {
    let (name, hosts) = match direction {
        Direction::Up => ("FATHOM-UP", "dual-src-host"),
        Direction::Down => ("FATHOM-DOWN", "dual-dst-host"),
    };
    let base = format!("set qos policy cake {name}");
    let rtt = shaper.round_trip.map(|time| format!("{base} rtt {}\n", whole_milliseconds(time)));
    format!(
        "{base} bandwidth {}bit\n{base} flow-isolation {hosts}\n{base} flow-isolation nat\n{}",
        rate.as_bits_per_second(),
        rtt.unwrap_or_default()
    )
}
