//! Limiters of pfSense as the section of a backup. Fields: `dnpipe_class` in
//! `src/etc/inc/shaper.inc`; areas of a restore: `src/usr/local/www/diag_backup.php`.
use crate::comment::{About, Style, comment};
use crate::shaper::{Shaper, whole_milliseconds};
use alloc::format;
use alloc::string::String;
use fathom_shape::{Codel, codel};
use fathom_units::{Duration, PerDirection, Rate};

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let rule = match (shaper.up.is_some(), shaper.down.is_some()) {
        (true, false) => "In / Out pipe fathom_up_queue / none",
        (false, _) => {
            "Out pipe fathom_down_queue (pfSense wants an In pipe too: a limiter with the rate of the port)"
        }
        (true, true) => "In / Out pipe fathom_up_queue / fathom_down_queue",
    };
    let about = About {
        unit: "bit/s, at most 4294967295",
        limits: &[
            "the queue is fair between flows, not between hosts.",
            "a restore of the area Limiters replaces all limiters that exist: download them first, and add \
             these to them if there are others.",
        ],
        apply: &format!(
            "Diagnostics, Backup & Restore, Restore area: Limiters. Then in Firewall, Rules, Floating add a rule: \
             Action Match, Interface {}, Direction out, Address Family IPv4, Protocol Any, the gateway of this \
             interface, {rule}; and the same for IPv6. Apply, and reset the states.",
            shaper.wan
        ),
        undo: "delete the floating rules, then the limiters fathom_up and fathom_down in Firewall, Traffic Shaper.",
    };
    let rates = PerDirection { up: shaper.up, down: shaper.down };
    let limiters = rates.iter().zip([901, 902]);
    let limiters: String = limiters
        .filter_map(|((direction, rate), number)| {
            Some(limiter(direction.name(), number, (*rate)?, shaper.round_trip))
        })
        .collect();
    let comment = comment(Style::Block("<!--", "-->"), shaper, &about);
    format!("<?xml version=\"1.0\"?>\n{comment}<dnshaper>\n{limiters}</dnshaper>\n")
}

fn limiter(name: &str, number: u32, rate: Rate, round_trip: Option<Duration>) -> String {
    let Codel { target, interval, quantum } = codel(rate, round_trip);
    let (target, interval) =
        (target.unwrap_or(Duration::from_millis(5)), interval.unwrap_or(Duration::from_millis(100)));
    format!(
        "\t<queue>\n\
         \t\t<name>fathom_{name}</name>\n\
         \t\t<number>{number}</number>\n\
         \t\t<enabled>on</enabled>\n\
         \t\t<bandwidth>\n\
         \t\t\t<item>\n\
         \t\t\t\t<bw>{}</bw>\n\
         \t\t\t\t<burst></burst>\n\
         \t\t\t\t<bwscale>b</bwscale>\n\
         \t\t\t\t<bwsched>none</bwsched>\n\
         \t\t\t</item>\n\
         \t\t</bandwidth>\n\
         \t\t<mask>none</mask>\n\
         \t\t<aqm>droptail</aqm>\n\
         \t\t<sched>fq_codel</sched>\n\
         \t\t<param_fq_codel_target>{}</param_fq_codel_target>\n\
         \t\t<param_fq_codel_interval>{}</param_fq_codel_interval>\n\
         \t\t<param_fq_codel_quantum>{}</param_fq_codel_quantum>\n\
         \t\t<ecn>on</ecn>\n\
         \t\t<description>fathom</description>\n\
         \t\t<queue>\n\
         \t\t\t<name>fathom_{name}_queue</name>\n\
         \t\t\t<number>{number}</number>\n\
         \t\t\t<enabled>on</enabled>\n\
         \t\t\t<mask>none</mask>\n\
         \t\t\t<aqm>droptail</aqm>\n\
         \t\t</queue>\n\
         \t</queue>\n",
        rate.as_bits_per_second(),
        whole_milliseconds(target),
        whole_milliseconds(interval),
        quantum.unwrap_or(1514)
    )
}
