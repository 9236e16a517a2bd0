//! Commands of RouterOS 7: a queue type and a queue of the tree for each direction. Menus and
//! parameters: help.mikrotik.com, "Queues" and "CAKE".
use crate::comment::{About, Style, comment};
use crate::platform::QueueKind;
use crate::shaper::{Shaper, whole_milliseconds};
use alloc::format;
use alloc::string::String;
use fathom_shape::{Codel, codel};
use fathom_units::{Direction, Duration, Rate};

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let about = About {
        unit: "bit/s",
        limits: &[
            "it needs RouterOS 7, as RouterOS 6 has neither CAKE nor fq_codel.",
            "FastTrack bypasses queues, and without it the CPU forwards all packets. Turn it off with:\n\
             /ip firewall filter disable [find where action=fasttrack-connection]",
            "packets with a packet mark are not queued. Only max-limit shapes: do not set cake-bandwidth as well.",
            "the download is shaped where it leaves to the local network: traffic between local networks \
             that leaves there counts too, and downloads of the router itself do not.",
        ],
        apply: "save this as fathom.rsc on the router, then:\n/import file-name=fathom.rsc",
        undo: "with these commands:\n/queue tree remove [find where comment=fathom]\n/queue type remove [find where name~\"^fathom-\"]",
    };
    let mut text = comment(Style::Lines("#"), shaper, &about);
    for (direction, rate, parent) in
        [(Direction::Up, shaper.up, shaper.wan), (Direction::Down, shaper.down, shaper.lan)]
    {
        if let Some(rate) = rate {
            text += &queue(shaper, direction, rate, parent);
        }
    }
    text
}

/// With the usual bucket of 100 ms, as much would pass in one burst.
const BUCKET: &str = "bucket-size=0.01";

fn queue(shaper: &Shaper<'_>, direction: Direction, rate: Rate, parent: &str) -> String {
    let name = direction.name();
    let kind = match shaper.queue {
        QueueKind::Cake => cake(shaper, direction),
        _ => fq_codel(codel(rate, shaper.round_trip)),
    };
    format!(
        "/queue type add name=fathom-{name} {kind}\n\
         /queue tree add name=fathom-{name} parent=\"{parent}\" packet-mark=no-mark queue=fathom-{name} \
         max-limit={} {BUCKET} comment=fathom\n",
        rate.as_bits_per_second()
    )
}

/// The download has its local addresses already where it is queued.
fn cake(shaper: &Shaper<'_>, direction: Direction) -> String {
    let flows = match direction {
        Direction::Up => "cake-diffserv=diffserv3 cake-flowmode=dual-srchost cake-nat=yes",
        Direction::Down => "cake-diffserv=besteffort cake-flowmode=dual-dsthost cake-nat=no",
    };
    let rtt = shaper.round_trip.map(|time| format!(" cake-rtt={}ms", whole_milliseconds(time)));
    format!("kind=cake {flows}{}", rtt.unwrap_or_default())
}

fn fq_codel(codel: Codel) -> String {
    let Codel { target, interval, quantum } = codel;
    let time = |key: &str, time: Option<Duration>| {
        time.map(|time| format!(" fq-codel-{key}={}ms", whole_milliseconds(time))).unwrap_or_default()
    };
    let quantum = quantum.map(|bytes| format!(" fq-codel-quantum={bytes}")).unwrap_or_default();
    format!("kind=fq-codel fq-codel-ecn=yes{}{}{quantum}", time("target", target), time("interval", interval))
}
