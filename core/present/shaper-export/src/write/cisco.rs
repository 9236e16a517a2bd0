//! Policy maps of IOS and IOS XE. Overhead: cisco.com, "Ethernet Overhead Accounting": the offset
//! is in addition to the Ethernet header, which is counted.
use crate::comment::{About, Style, comment};
use crate::shaper::{Shaper, offset};
use alloc::format;
use alloc::string::String;
use fathom_shape::Framing;

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let sides = [("UP", shaper.up, shaper.wan), ("DOWN", shaper.down, shaper.lan)];
    let sides = || sides.into_iter().filter_map(|(name, rate, at)| Some((name, rate?, at)));
    let undo: String = sides()
        .map(|(name, _, at)| {
            format!(
                "\ninterface {at}\nno service-policy output FATHOM-{name}\nexit\nno policy-map FATHOM-{name}"
            )
        })
        .collect();
    let about = About {
        unit: "bit/s, in multiples of 8000, which older releases require",
        limits: &[
            "no AQM: fair-queue isolates flows, and each flow still waits behind its own packets.",
            "policies shape only what leaves, so the download is shaped where it leaves to the local network: \
             traffic between local networks that leaves there counts too.",
            "some models shape only up to a licensed throughput, and some do not accept `account` or \
             `fair-queue`; see `show policy-map interface`.",
        ],
        apply: "in configuration mode (configure terminal), paste the commands; after the test, save them:\nend\nwrite memory",
        undo: &format!("in configuration mode:{undo}\nend\nwrite memory"),
    };
    let account = account(shaper.framing());
    let mut text = comment(Style::Lines("!"), shaper, &about);
    for (name, rate, at) in sides() {
        text += &format!(
            "policy-map FATHOM-{name}\n class class-default\n  shape average {}{account}\n  fair-queue\n!\n\
             interface {at}\n service-policy output FATHOM-{name}\n!\n",
            rate.as_bits_per_second()
        );
    }
    text
}

fn account(framing: Option<Framing>) -> String {
    let Some(framing) = framing else { return String::new() };
    let cells = if framing.atm { " atm" } else { "" };
    format!(" account user-defined {}{cells}", offset(framing))
}
