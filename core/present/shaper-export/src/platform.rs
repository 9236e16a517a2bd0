//! The platforms, and the limits of each.
use crate::name::Names;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A queue behind the shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueKind {
    /// CAKE.
    Cake,
    /// `fq_codel`.
    FqCodel,
    /// A queue for each flow, without an AQM.
    Fair,
    /// One short queue.
    Short,
}

impl QueueKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            QueueKind::Cake => "CAKE",
            QueueKind::FqCodel => "fq_codel",
            QueueKind::Fair => "fair queueing",
            QueueKind::Short => "one short queue",
        }
    }
}

/// How a platform counts the overhead of packets on the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counts {
    /// Overhead beyond IP, minimum size and ATM cells.
    All,
    /// At most this much overhead beyond its own Ethernet header, and ATM cells.
    UpTo(u16),
    /// Nothing.
    Nothing,
}

/// Where a platform shapes the download.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Download {
    /// Where it arrives.
    AtWan,
    /// Where it leaves to the local network.
    AtLan,
    /// Nowhere.
    Nowhere,
}

/// Limits of a platform.
pub(crate) struct Limits {
    /// Unit of its rates in bit/s.
    pub(crate) unit: u64,
    /// Highest rate in bit/s.
    pub(crate) max: u64,
    pub(crate) counts: Counts,
    pub(crate) download: Download,
    /// Its queues, best first.
    pub(crate) queues: &'static [QueueKind],
    pub(crate) names: Names,
}

/// A platform that can shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Platform {
    /// sqm-scripts of OpenWrt.
    OpenwrtSqm,
    /// RouterOS 7 of MikroTik.
    Mikrotik,
    /// VyOS 1.4.
    Vyos,
    /// OPNsense.
    Opnsense,
    /// pfSense.
    Pfsense,
    /// EdgeOS of EdgeRouters.
    Edgeos,
    /// IOS and IOS XE of Cisco.
    Cisco,
    /// Junos OS of Juniper.
    Junos,
    /// `ip` and `tc` of any Linux.
    LinuxTc,
    /// systemd-networkd.
    SystemdNetworkd,
    /// NetworkManager.
    NetworkManager,
}

/// Unlimited for what a line can have.
const ANY: u64 = u64::MAX;
/// dummynet keeps the rate in 32 bits, in bit/s (github.com/opnsense/core/issues/5224). Releases on
/// FreeBSD 12 refuse it from 2^31 on.
const DUMMYNET_MAX: u64 = u32::MAX as u64;

impl Platform {
    /// All platforms.
    pub const ALL: [Platform; 11] = [
        Platform::OpenwrtSqm,
        Platform::Mikrotik,
        Platform::Vyos,
        Platform::Opnsense,
        Platform::Pfsense,
        Platform::Edgeos,
        Platform::Cisco,
        Platform::Junos,
        Platform::LinuxTc,
        Platform::SystemdNetworkd,
        Platform::NetworkManager,
    ];
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Platform::OpenwrtSqm => "openwrt-sqm",
            Platform::Mikrotik => "mikrotik",
            Platform::Vyos => "vyos",
            Platform::Opnsense => "opnsense",
            Platform::Pfsense => "pfsense",
            Platform::Edgeos => "edgeos",
            Platform::Cisco => "cisco",
            Platform::Junos => "junos",
            Platform::LinuxTc => "linux-tc",
            Platform::SystemdNetworkd => "systemd-networkd",
            Platform::NetworkManager => "networkmanager",
        }
    }
    /// The name that its users know.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Platform::OpenwrtSqm => "OpenWrt (sqm-scripts)",
            Platform::Mikrotik => "MikroTik RouterOS 7",
            Platform::Vyos => "VyOS",
            Platform::Opnsense => "OPNsense",
            Platform::Pfsense => "pfSense",
            Platform::Edgeos => "EdgeOS",
            Platform::Cisco => "Cisco IOS",
            Platform::Junos => "Junos OS",
            Platform::LinuxTc => "Linux (ip, tc)",
            Platform::SystemdNetworkd => "systemd-networkd",
            Platform::NetworkManager => "NetworkManager",
        }
    }
    pub(crate) const fn limits(self) -> Limits {
        let linux = Limits {
            unit: 1,
            max: ANY,
            counts: Counts::All,
            download: Download::AtWan,
            queues: &[QueueKind::Cake],
            names: Names::Linux,
        };
        let dummynet = Limits {
            max: DUMMYNET_MAX,
            counts: Counts::Nothing,
            queues: &[QueueKind::FqCodel],
            names: Names::Firewall,
            ..linux
        };
        let both = &[QueueKind::Cake, QueueKind::FqCodel];
        match self {
            // `download` and `upload` are integers in kbit/s, 0 is off: openwrt.org, "SQM
            // configuration".
            Platform::OpenwrtSqm => Limits { unit: 1_000, queues: both, ..linux },
            // The queue tree shapes, and counts frames; the options of CAKE apply to its own
            // shaper, which is off.
            Platform::Mikrotik => Limits {
                counts: Counts::Nothing,
                download: Download::AtLan,
                queues: both,
                names: Names::RouterOs,
                ..linux
            },
            // interface-definitions/qos.xml.in of vyos-1x has no overhead for CAKE.
            Platform::Vyos => Limits { counts: Counts::Nothing, names: Names::Vyos, ..linux },
            Platform::Opnsense | Platform::Pfsense => dummynet,
            Platform::Edgeos => Limits { counts: Counts::Nothing, queues: &[QueueKind::FqCodel], ..linux },
            // Rates up to 10 Gbit/s: "shape (policy-map class)" in the command reference of the ASR
            // 901, OL-26031; older releases take multiples of 8 kbit/s only. Offsets of at most 63
            // bytes, and ATM cells: cisco.com, "Ethernet Overhead Accounting", IOS XE 3S.
            Platform::Cisco => Limits {
                unit: 8_000,
                max: 10_000_000_000,
                counts: Counts::UpTo(63),
                download: Download::AtLan,
                queues: &[QueueKind::Fair],
                names: Names::Cisco,
            },
            // 1,000 to 160,000,000,000 bit/s: juniper.net, "shaping-rate".
            Platform::Junos => Limits {
                unit: 1_000,
                max: 160_000_000_000,
                counts: Counts::Nothing,
                download: Download::AtLan,
                queues: &[QueueKind::Short],
                names: Names::Junos,
            },
            Platform::LinuxTc | Platform::SystemdNetworkd => linux,
            // Rates in byte/s. Its kinds of queues with options are fq_codel, sfq and tbf, and it
            // has no ifb: libnm-core-impl/nm-utils.c, libnm-platform/nm-linux-platform.c.
            Platform::NetworkManager => Limits {
                unit: 8,
                counts: Counts::Nothing,
                download: Download::Nowhere,
                queues: &[QueueKind::FqCodel],
                ..linux
            },
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl core::str::FromStr for Platform {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Platform::ALL.into_iter().find(|platform| platform.name() == text).ok_or_else(|| {
            let known: Vec<&str> = Platform::ALL.map(Platform::name).into();
            alloc::format!("unknown platform {text:?} (known: {})", known.join(", "))
        })
    }
}
