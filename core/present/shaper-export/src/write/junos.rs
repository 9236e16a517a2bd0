//! A part of the configuration of Junos OS. Statements: juniper.net, "shaping-rate", "buffer-size
//! (Schedulers)" and "per-unit-scheduler".
use crate::comment::{About, Style, comment};
use crate::name::junos;
use crate::shaper::Shaper;
use alloc::format;
use alloc::string::String;
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Rate};

/// Time that the queue holds, where it is enough for TCP.
const QUEUE_TIME: Duration = Duration::from_millis(20);
/// Maximum of `buffer-size temporal` on the platforms with the lowest one (M320).
const MAX_QUEUE_TIME: Duration = Duration::from_millis(50);
/// Packets that TCP needs in a queue.
const LEAST_PACKETS: u64 = 10;

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let sides = [("up", shaper.up, shaper.wan), ("down", shaper.down, shaper.lan)];
    let sides = || {
        sides.into_iter().filter_map(|(name, rate, at)| {
            let (device, unit) = junos(at)?;
            Some((name, rate?, device, unit))
        })
    };
    let short = sides().any(|(_, rate, ..)| rate.bytes_in(MAX_QUEUE_TIME) < full_frames(LEAST_PACKETS));
    let slow = if short {
        "at this rate the queue of 50 ms, the most that all models have, holds fewer than 10 packets: TCP may not \
         reach the rate. A router in front of this one that has fq_codel or CAKE shapes better."
    } else {
        "no AQM and no queues for flows: all of them share one queue, which is short."
    };
    let about = About {
        unit: "bit/s",
        limits: &[
            slow,
            "per-unit schedulers need hardware that has them; see `show class-of-service interface`. On MX, \
             traffic-control-profiles can also count overhead (overhead-accounting).",
            "only what leaves is shaped, so the download is shaped where it leaves to the local network: traffic \
             between local networks that leaves there counts too.",
        ],
        apply: "in configuration mode, paste this after the first command and press Ctrl-D; the last one is for after \
                the test:\nload merge terminal\ncommit confirmed 10\ncommit",
        undo: "right after it, in configuration mode; later, delete these statements:\nrollback 1\ncommit",
    };
    let schedulers: String = sides().map(|(name, rate, ..)| scheduler(name, rate)).collect();
    let maps: String = sides().map(|(name, ..)| map(name)).collect();
    let shaped: String =
        sides().map(|(name, rate, device, unit)| interface(name, rate, device, unit)).collect();
    let units: String = sides()
        .map(|(_, _, device, _)| format!("    {device} {{\n        per-unit-scheduler;\n    }}\n"))
        .collect();
    comment(Style::Block("/*", "*/"), shaper, &about)
        + &format!(
            "interfaces {{\n{units}}}\nclass-of-service {{\n    interfaces {{\n{shaped}    }}\n    scheduler-maps {{\n{maps}    \
             }}\n    schedulers {{\n{schedulers}    }}\n}}\n"
        )
}

fn full_frames(count: u64) -> Bytes {
    Bytes(ETHERNET_FULL_FRAME.get() * count)
}

fn interface(name: &str, rate: Rate, device: &str, unit: &str) -> String {
    format!(
        "        {device} {{\n            unit {unit} {{\n                scheduler-map fathom-{name};\n                \
         shaping-rate {};\n            }}\n        }}\n",
        rate.as_bits_per_second()
    )
}

fn map(name: &str) -> String {
    format!(
        "        fathom-{name} {{\n            forwarding-class best-effort scheduler fathom-{name};\n            \
         forwarding-class network-control scheduler fathom-{name}-control;\n        }}\n"
    )
}

fn scheduler(name: &str, rate: Rate) -> String {
    let needed = rate.serialization_time(full_frames(LEAST_PACKETS));
    let time = needed.clamp(QUEUE_TIME, MAX_QUEUE_TIME);
    format!(
        "        fathom-{name} {{\n            transmit-rate percent 95;\n            buffer-size temporal {};\n        }}\n        \
         fathom-{name}-control {{\n            transmit-rate percent 5;\n            buffer-size percent 5;\n        }}\n",
        time.as_nanos() / 1_000
    )
}
