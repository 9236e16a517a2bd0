//! A section of `/etc/config/sqm`. Options: openwrt.org, "SQM configuration"; how they are used:
//! `src/run-openwrt.sh`, `layer_cake.qos` and `simplest.qos` of sqm-scripts.
use crate::comment::{About, Style, comment};
use crate::platform::QueueKind;
use crate::shaper::{Shaper, identifier};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_shape::{Framing, codel};
use fathom_units::Rate;

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let section = format!("fathom_{}", identifier(shaper.wan));
    let about = About {
        unit: "kbit/s (1000 bit/s)",
        limits: &[
            "flow offloading bypasses the queues: turn it off (Network, Firewall, Routing/NAT offloading).",
        ],
        apply: "append this to /etc/config/sqm (package sqm-scripts), then:\nservice sqm enable\nservice sqm restart",
        undo: &format!("with these commands:\nuci delete sqm.{section}\nuci commit sqm\nservice sqm restart"),
    };
    let kbits = |rate: Option<Rate>| rate.map_or(0, |rate| rate.as_bits_per_second() / 1_000).to_string();
    let mut text = comment(Style::Lines("#"), shaper, &about);
    text += &format!("config queue '{section}'\n");
    let mut option = |key: &str, value: &str| text += &format!("\toption {key} '{value}'\n");
    option("enabled", "1");
    option("interface", shaper.wan);
    option("download", &kbits(shaper.down));
    option("upload", &kbits(shaper.up));
    option("qdisc_advanced", "1");
    option("qdisc_really_really_advanced", "1");
    match shaper.queue {
        QueueKind::Cake => cake(shaper, &mut option),
        _ => fq_codel(shaper, &mut option),
    }
    layer(shaper.framing(), &mut option);
    text
}

/// CAKE shares the rate between the hosts behind NAT. What arrives was marked by other networks, so
/// its marks count for nothing.
fn cake(shaper: &Shaper<'_>, option: &mut impl FnMut(&str, &str)) {
    let rtt = shaper.round_trip.map(|time| format!(" rtt {}us", time.as_nanos() / 1_000)).unwrap_or_default();
    option("qdisc", "cake");
    option("script", "layer_cake.qos");
    option("squash_ingress", "1");
    option("iqdisc_opts", &format!("nat dual-dsthost ingress{rtt}"));
    option("eqdisc_opts", &format!("nat dual-srchost{rtt}"));
}

fn fq_codel(shaper: &Shaper<'_>, option: &mut impl FnMut(&str, &str)) {
    option("qdisc", "fq_codel");
    option("script", "simplest.qos");
    option("ingress_ecn", "ECN");
    option("egress_ecn", "ECN");
    let sides = [("itarget", "iqdisc_opts", shaper.down), ("etarget", "eqdisc_opts", shaper.up)];
    for (target, options, rate) in sides {
        let Some(codel) = rate.map(|rate| codel(rate, shaper.round_trip)) else { continue };
        if let Some(time) = codel.target {
            option(target, &format!("{}us", time.as_nanos().div_ceil(1_000)));
        }
        if let Some(time) = codel.interval {
            option(options, &format!("interval {}us", time.as_nanos().div_ceil(1_000)));
        }
    }
}

fn layer(framing: Option<Framing>, option: &mut impl FnMut(&str, &str)) {
    let Some(Framing { overhead, mpu, atm }) = framing else { return option("linklayer", "none") };
    option("linklayer", if atm { "atm" } else { "ethernet" });
    option("linklayer_advanced", "1");
    option("overhead", &overhead.unwrap_or(0).to_string());
    option("tcMPU", &mpu.to_string());
}
