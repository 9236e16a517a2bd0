//! Configuration commands of EdgeOS: a smart queue, which is HTB with `fq_codel`. Its CPU forwards
//! what is shaped: help.ui.com, "EdgeRouter - Quality of Service (QoS)".
use crate::comment::{About, Style, comment};
use crate::shaper::{Shaper, whole_milliseconds};
use alloc::format;
use alloc::string::String;
use fathom_shape::{Codel, codel};
use fathom_units::Rate;

/// From here on the comment warns of the CPU. Our own choice: hardware offloading is what makes an
/// EdgeRouter faster, and it is off for what is shaped.
const CPU_WARNING_FROM: Rate = Rate::from_bits_per_second(100_000_000);

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let cpu = if shaper.up.max(shaper.down) >= Some(CPU_WARNING_FROM) {
        "at this rate the CPU may be the bottleneck: what is shaped is not offloaded to the hardware. See `top` \
         during the test, and expect less throughput on small models."
    } else {
        "what is shaped is not offloaded to the hardware: its CPU forwards it."
    };
    let about = About {
        unit: "bit/s",
        limits: &[
            cpu,
            "with PPPoE, the interface is pppoe0; with a switch or a VLAN, the one that has the address.",
        ],
        apply: "in configuration mode (configure), paste the commands, then the first of these, and the other one after the test:\n\
                commit\nsave",
        undo: "in configuration mode:\ndelete traffic-control smart-queue FATHOM\ncommit\nsave",
    };
    let base = "set traffic-control smart-queue FATHOM";
    let mut text = comment(Style::Lines("#"), shaper, &about);
    text += &format!("{base} wan-interface {}\n", shaper.wan);
    for (direction, rate) in [("upload", shaper.up), ("download", shaper.down)] {
        if let Some(rate) = rate {
            text += &side(&format!("{base} {direction}"), rate, codel(rate, shaper.round_trip));
        }
    }
    text
}

fn side(base: &str, rate: Rate, codel: Codel) -> String {
    let Codel { target, interval, quantum } = codel;
    let mut text = format!("{base} rate {}bit\n{base} ecn enable\n", rate.as_bits_per_second());
    for (key, time) in [("target", target), ("interval", interval)] {
        if let Some(time) = time {
            text += &format!("{base} {key} {}ms\n", whole_milliseconds(time));
        }
    }
    if let Some(bytes) = quantum {
        text += &format!("{base} fq-quantum {bytes}\n");
    }
    text
}
