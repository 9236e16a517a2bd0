//! A script that writes files of systemd-networkd, and a unit for what it cannot do: it has no
//! filters, so it cannot redirect ingress. Keys: systemd.network(5), `[CAKE]`.
use crate::comment::{About, Style, comment};
use crate::shaper::Shaper;
use alloc::format;
use alloc::string::{String, ToString};
use fathom_tc::ifb_name;
use fathom_units::{Direction, Rate};

/// Directories of the files.
const NETWORK: &str = "/etc/systemd/network";
const UNITS: &str = "/etc/systemd/system";

pub(super) fn text(shaper: &Shaper<'_>) -> String {
    let (wan, ifb) = (shaper.wan, ifb_name(shaper.wan, 0));
    let mut undo = String::new();
    if shaper.down.is_some() {
        undo += &format!(
            "\nsystemctl disable --now fathom-{ifb}\nrm {UNITS}/fathom-{ifb}.service {NETWORK}/70-fathom-{ifb}.*\nip link del {ifb}"
        );
    }
    if shaper.up.is_some() {
        undo += &format!("\nrm {NETWORK}/*.network.d/fathom-{wan}.conf\ntc qdisc del dev {wan} root");
    }
    let about = About {
        unit: "bit/s",
        limits: &[
            "it needs systemd 250 or later (253 for a round-trip time), and Linux 4.19 or later with sch_cake.",
            "systemd-networkd cannot redirect what arrives, so a unit of systemd does it with tc. Nor has it CAKE's \
             option `ingress`, which counts dropped packets: with many downloads at once, lower the download rate.",
        ],
        apply: "as root: sh FILE. The upload goes into a drop-in of the .network file that configures the interface; \
                sh FILE NAME.network names another one.",
        undo: &format!("as root:{undo}\nnetworkctl reload"),
    };
    let mut text = format!("#!/bin/sh\n{}set -eu\n", comment(Style::Lines("#"), shaper, &about));
    if let Some(rate) = shaper.up {
        text += &drop_in(wan, &cake(shaper, Direction::Up, rate));
    }
    if let Some(rate) = shaper.down {
        text +=
            &file(&format!("{NETWORK}/70-fathom-{ifb}.netdev"), &format!("[NetDev]\nName={ifb}\nKind=ifb\n"));
        let network = format!(
            "[Match]\nName={ifb}\n\n[Link]\nRequiredForOnline=no\n\n[Network]\nLinkLocalAddressing=no\n\
             ConfigureWithoutCarrier=yes\n\n{}",
            cake(shaper, Direction::Down, rate)
        );
        text += &file(&format!("{NETWORK}/70-fathom-{ifb}.network"), &network);
        text += &file(&format!("{UNITS}/fathom-{ifb}.service"), &unit(wan, &ifb));
    }
    text += "networkctl reload\n";
    if shaper.down.is_some() {
        text += &format!("systemctl daemon-reload\nsystemctl enable --now fathom-{ifb}.service\n");
    }
    text
}

/// Writes a file. No line of a configuration is `END`.
fn file(path: &str, content: &str) -> String {
    format!("cat >{path} <<'END'\n{content}END\n")
}

/// Only one `.network` file configures an interface, so another file would take its address away.
fn drop_in(wan: &str, content: &str) -> String {
    format!(
        "network=${{1:-$(networkctl status {wan} | sed -n 's/^ *Network File: //p')}}\n\
         case $network in\n\
         *.network) ;;\n\
         *)\n    \
         echo \"systemd-networkd does not configure {wan}; usage: sh $0 NAME.network\" >&2\n    \
         exit 1\n    \
         ;;\n\
         esac\n\
         dropins={NETWORK}/$(basename \"$network\").d\n\
         mkdir -p \"$dropins\"\n\
         {}",
        file(&format!("\"$dropins/fathom-{wan}.conf\""), content)
    )
}

fn cake(shaper: &Shaper<'_>, direction: Direction, rate: Rate) -> String {
    let mut text = format!("[CAKE]\nParent=root\nBandwidth={}\n", rate.as_bits_per_second());
    let mut key = |name: &str, value: &str| text += &format!("{name}={value}\n");
    if direction == Direction::Down {
        key("PriorityQueueingPreset", "besteffort");
    }
    if let Some(framing) = shaper.framing() {
        key("OverheadBytes", &framing.overhead.unwrap_or(0).to_string());
        if framing.mpu > 0 {
            key("MPUBytes", &framing.mpu.to_string());
        }
        key("CompensationMode", if framing.atm { "atm" } else { "none" });
    }
    if let Some(time) = shaper.round_trip {
        key("RTTSec", &format!("{}us", time.as_nanos() / 1_000));
    }
    text
}

/// Redirects what arrives whenever both interfaces are there.
fn unit(wan: &str, ifb: &str) -> String {
    let devices = format!("{} {}", device_unit(wan), device_unit(ifb));
    format!(
        "[Unit]\nDescription=Redirects what arrives on {wan} to its shaper\nBindsTo={devices}\nAfter={devices}\n\n\
         [Service]\nType=oneshot\nRemainAfterExit=yes\n\
         ExecStart=tc qdisc replace dev {wan} handle ffff: ingress\n\
         ExecStart=tc filter replace dev {wan} parent ffff: protocol all prio 1 handle 1 matchall action mirred egress redirect dev {ifb}\n\
         ExecStop=tc qdisc del dev {wan} ingress\n\n\
         [Install]\nWantedBy={}\n",
        device_unit(wan)
    )
}

/// The unit of an interface: systemd.unit(5), "String escaping for inclusion in unit names".
fn device_unit(name: &str) -> String {
    let escaped = name.bytes().map(|byte| match byte {
        b'_' | b'.' | b':' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    });
    format!("sys-subsystem-net-devices-{}.device", escaped.collect::<String>())
}
