//! The configurations, a file for each platform.
mod cisco;
mod edgeos;
mod junos;
mod linux_tc;
mod mikrotik;
mod network_manager;
mod networkd;
mod openwrt;
mod opnsense;
mod pfsense;
mod vyos;

use crate::platform::Platform;
use crate::shaper::Shaper;
use alloc::string::String;

pub(crate) fn text(shaper: &Shaper<'_>) -> String {
    match shaper.platform {
        Platform::OpenwrtSqm => openwrt::text(shaper),
        Platform::Mikrotik => mikrotik::text(shaper),
        Platform::Vyos => vyos::text(shaper),
        Platform::Opnsense => opnsense::text(shaper),
        Platform::Pfsense => pfsense::text(shaper),
        Platform::Edgeos => edgeos::text(shaper),
        Platform::Cisco => cisco::text(shaper),
        Platform::Junos => junos::text(shaper),
        Platform::LinuxTc => linux_tc::text(shaper),
        Platform::SystemdNetworkd => networkd::text(shaper),
        Platform::NetworkManager => network_manager::text(shaper),
    }
}
