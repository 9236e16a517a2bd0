//! A queue discipline and a congestion control outside of Fathom's workspace.
mod aimd;
mod choke;

pub use aimd::Aimd;
pub use choke::Choke;

use fathom_qdisc::{PluginParams, Spec};
use fathom_tcp::{ControlConfig, ControlPlugin, ControlPluginParams};

/// CHOKe with a threshold of 20 packets.
pub fn choke() -> PluginParams {
    PluginParams::new("choke", |seed| Box::new(Choke::new(seed, 20, 1000)))
}

/// CHOKe at a bottleneck.
pub fn queue() -> Spec {
    Spec::Plugin(choke())
}

/// A gentler Reno.
pub fn control() -> ControlPluginParams {
    ControlPluginParams::new("aimd", |_: &ControlConfig| -> Box<dyn ControlPlugin> {
        Box::new(Aimd::new(1.0, 0.8))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_qdisc::{Plugin, conformance};

    #[test]
    fn both_conform() {
        conformance::check(0..10, |seed| Plugin::new(choke(), seed)).unwrap();
        fathom_sim::check_control(&control(), &mut || false).unwrap();
    }
}
