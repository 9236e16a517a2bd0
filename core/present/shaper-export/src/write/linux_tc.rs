//! A script with the commands that `fathom fix` itself would send.
use crate::comment::{About, Style, comment};
use crate::shaper::Shaper;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_tc::{Cake, Cells, Diffserv, Filter, Handle, Kind, Match, Mirred, Qdisc, Request, Verb, ifb_name};
use fathom_units::{Direction, Rate};

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let ifb = ifb_name(shaper.wan, 0);
    let mut undo = Vec::new();
    if shaper.up.is_some() {
        undo.push(format!("tc qdisc del dev {} root", shaper.wan));
    }
    if shaper.down.is_some() {
        undo.push(format!("tc qdisc del dev {} ingress", shaper.wan));
        undo.push(format!("ip link del {ifb}"));
    }
    let about = About {
        unit: "bit/s, which the kernel keeps in byte/s",
        limits: &[
            "it needs Linux 4.19 or later with sch_cake, and is gone after a restart.",
            "flow offloading of the firewall (nft flowtables) bypasses the queues.",
        ],
        apply: "as root: sh FILE. It ends at the first command that fails, such as where the interface has a qdisc \
                for ingress already.",
        undo: &format!("as root:\n{}", undo.join("\n")),
    };
    let mut requests = Vec::new();
    if let Some(rate) = shaper.down {
        requests.extend([
            Request::AddIfb { name: ifb.clone(), queues: 1 },
            Request::SetLink { name: ifb.clone(), up: Some(true), queue_packets: None },
            root(&ifb, cake(shaper, Direction::Down, rate)),
        ]);
    }
    if let Some(rate) = shaper.up {
        requests.push(root(shaper.wan, cake(shaper, Direction::Up, rate)));
    }
    if shaper.down.is_some() {
        let parent = Handle::INGRESS_QDISC;
        let ingress = Qdisc { parent: Handle::INGRESS, handle: parent, kind: Kind::Ingress, stab: None };
        let filter = Filter {
            parent,
            priority: 1,
            matches: Match::All,
            class: None,
            action: Some(Mirred { to: ifb }),
        };
        let device = || shaper.wan.to_owned();
        requests.push(Request::Qdisc { verb: Verb::Add, device: device(), qdisc: ingress });
        requests.push(Request::Filter { device: device(), filter });
    }
    let commands: String = requests.iter().map(|request| format!("{request}\n")).collect();
    format!("#!/bin/sh\n{}set -e\n{commands}", comment(Style::Lines("#"), shaper, &about))
}

fn root(device: &str, cake: Cake) -> Request {
    let qdisc = Qdisc { parent: Handle::ROOT, handle: Handle::NONE, kind: Kind::Cake(cake), stab: None };
    Request::Qdisc { verb: Verb::Replace, device: device.to_owned(), qdisc }
}

/// CAKE as `fathom fix` sets it. Ingress packets were marked by other networks.
fn cake(shaper: &Shaper<'_>, direction: Direction, rate: Rate) -> Cake {
    let is_ingress = direction == Direction::Down;
    let framing = shaper.framing().unwrap_or_default();
    Cake {
        rate: Some(rate),
        diffserv: Some(if is_ingress { Diffserv::BestEffort } else { Diffserv::Diffserv3 }),
        ingress: is_ingress.then_some(true),
        split_gso: Some(true),
        overhead: framing.overhead.map(i32::from),
        mpu: (framing.mpu > 0).then_some(u32::from(framing.mpu)),
        cells: framing.atm.then_some(Cells::Atm),
        rtt: shaper.round_trip,
        ..Cake::default()
    }
}
