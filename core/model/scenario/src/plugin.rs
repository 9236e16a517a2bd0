//! Queue disciplines and congestion controls of users, in a plan.
use crate::Plan;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_qdisc::Spec;
use fathom_tcp::ControlPluginParams;

/// A plug-in as a value of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum PluginValue {
    /// A queue discipline.
    Queue(Spec),
    /// A congestion control.
    Control(ControlPluginParams),
}

impl Plan {
    /// Puts a plug-in at the path of a key, as in `hop.modem.up.queue`, `load.congestion_control`
    /// and `workload.backup.congestion_control`. Hops and workloads have a name or a number from 0.
    /// The path `congestion_control` means all TCP flows.
    ///
    /// # Errors
    /// If there is no such key, or it has another kind of value.
    pub fn set_plugin(&mut self, path: &str, value: PluginValue) -> Result<(), String> {
        let keys: Vec<&str> = path.split('.').collect();
        let is_set = match (keys.as_slice(), value) {
            (["hop", hop, direction, "queue"], PluginValue::Queue(queue)) => {
                self.side(hop, direction).map(|side| *side = queue)
            }
            (["load", "congestion_control"], PluginValue::Control(control)) => {
                let name = self.add(control);
                self.load.as_mut().map(|load| load.congestion_control = name)
            }
            (["workload", workload, "congestion_control"], PluginValue::Control(control)) => {
                let name = self.add(control);
                let named = |index: usize, of: &str| of == *workload || Ok(index) == workload.parse();
                let mut all = self.workloads.iter_mut().enumerate();
                let found = all.find(|(index, plan)| named(*index, &plan.name));
                found.map(|(_, plan)| plan.transport.congestion_control = name)
            }
            (["congestion_control"], PluginValue::Control(control)) => {
                let name = self.add(control);
                self.load.iter_mut().for_each(|load| load.congestion_control.clone_from(&name));
                for workload in &mut self.workloads {
                    workload.transport.congestion_control.clone_from(&name);
                }
                Some(())
            }
            _ => None,
        };
        is_set.ok_or_else(|| format!("unknown key \"{path}\" (expected a queue or a congestion control)"))
    }
    fn side(&mut self, hop: &str, direction: &str) -> Option<&mut Spec> {
        let named = self.line.hops.iter().position(|plan| plan.name == hop);
        let plan = self.line.hops.get_mut(named.or_else(|| hop.parse().ok())?)?;
        match direction {
            "up" => Some(&mut plan.up.queue),
            "down" => Some(&mut plan.down.queue),
            _ => None,
        }
    }
    /// Returns the name by which loads and workloads refer to it.
    fn add(&mut self, control: ControlPluginParams) -> String {
        let name = control.name().to_owned();
        self.controls.push(control);
        name
    }
}
