//! Names of interfaces. Each is written into a configuration, so only names without letters that
//! have a meaning in one are accepted.
use fathom_tc::is_interface_name;

/// Which names a platform has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Names {
    Linux,
    Vyos,
    /// Those in the configuration of OPNsense and pfSense, not those of FreeBSD.
    Firewall,
    RouterOs,
    Cisco,
    Junos,
}

/// Maximum length where the platform states none.
const LONGEST: usize = 63;

impl Names {
    pub(crate) fn has(self, name: &str) -> bool {
        let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.len() <= LONGEST;
        let only = |others: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c));
        begins
            && match self {
                Names::Linux => only("._-+") && is_interface_name(name),
                Names::Vyos => only("._-+") && is_interface_name(name) && vyos(name).is_some(),
                Names::Firewall => is_firewall(name),
                Names::RouterOs => only("._-+/"),
                Names::Cisco => only("./:-"),
                Names::Junos => only("./:-") && junos(name).is_some(),
            }
    }
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Names::Linux => "1 to 15 letters, digits and . _ - +",
            Names::Vyos => "a name such as eth0, eth0.10, bond0, br0 or pppoe0",
            Names::Firewall => "wan, lan, opt1 or another number",
            Names::RouterOs => "letters, digits and . _ - + /",
            Names::Cisco => "a name such as GigabitEthernet0/0/1 or Vlan10",
            Names::Junos => "a name such as ge-0/0/0 or ge-0/0/0.100",
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_firewall(name: &str) -> bool {
    matches!(name, "wan" | "lan") || name.strip_prefix("opt").is_some_and(is_number)
}

/// The types of interfaces of VyOS that can redirect what arrives, by the beginning of their names.
const VYOS: [(&str, &str); 5] =
    [("eth", "ethernet"), ("bond", "bonding"), ("br", "bridge"), ("pppoe", "pppoe"), ("wlan", "wireless")];

/// The type of an interface of VyOS, its name, and its VLAN.
pub(crate) fn vyos(name: &str) -> Option<(&'static str, &str, Option<&str>)> {
    let (device, vlan) = match name.split_once('.') {
        Some((device, vlan)) => (device, Some(vlan)),
        None => (name, None),
    };
    let (_, kind) = VYOS.into_iter().find(|(start, _)| device.strip_prefix(start).is_some_and(is_number))?;
    vlan.is_none_or(is_number).then_some((kind, device, vlan))
}

/// The physical interface of Junos, and its unit. Those that only route between others shape
/// nothing.
pub(crate) fn junos(name: &str) -> Option<(&str, &str)> {
    if name.starts_with("irb") || name.starts_with("vlan") {
        return None;
    }
    let (device, unit) = name.split_once('.').unwrap_or((name, "0"));
    is_number(unit).then_some((device, unit))
}
