//! Congestion controls and queues of users in scenarios.
use fathom_qdisc::{Actions, PluginParams, QueuePlugin, QueuedPacket, Spec};
use fathom_scenario::{Plan, PluginValue, builtin_plan};
use fathom_sim::{Options, TestOptions, check_control, simulate, test};
use fathom_tcp::{AnyControl, ControlConfig, ControlKind, ControlPlugin, ControlPluginParams};
use fathom_units::Time;
use std::collections::VecDeque;

fn of_kind(kind: ControlKind) -> ControlPluginParams {
    ControlPluginParams::new("mine", move |config: &ControlConfig| -> Box<dyn ControlPlugin> {
        Box::new(AnyControl::new(kind, config))
    })
}

fn dsl() -> Plan {
    let mut plan = builtin_plan("dsl").unwrap().unwrap();
    plan.run.duration = fathom_units::Duration::from_secs(5);
    plan
}

#[test]
fn scenarios_know_every_built_in_control() {
    let names: Vec<&str> = ControlKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(fathom_scenario::CONGESTION_CONTROLS, names);
}

#[test]
fn every_built_in_control_conforms() {
    for kind in ControlKind::ALL {
        check_control(&of_kind(*kind), &mut || false).unwrap_or_else(|broken| panic!("{kind}: {broken}"));
    }
}

#[test]
fn a_plugin_with_the_code_of_a_control_gives_the_same_simulation() {
    let mut named = dsl();
    named.load.as_mut().unwrap().congestion_control = "reno".to_owned();
    for path in ["load.congestion_control", "congestion_control"] {
        let mut plan = dsl();
        plan.set_plugin(path, PluginValue::Control(of_kind(ControlKind::Reno))).unwrap();
        assert_eq!(simulate(&plan, &Options::new(1)).digest, simulate(&named, &Options::new(1)).digest);
        let [mine, theirs] = [&plan, &named].map(|plan| test(plan, &TestOptions::new(1)));
        assert_eq!(mine.digest, theirs.digest);
    }
}

/// `fifo limit 50p`.
#[derive(Default)]
struct Fifo(VecDeque<u64>);

impl QueuePlugin for Fifo {
    fn enqueue(&mut self, packet: QueuedPacket, _: Time, actions: &mut Actions) {
        if self.0.len() < 50 {
            self.0.push_back(packet.number);
        } else {
            actions.drop(packet.number, fathom_qdisc::DropReason::Overlimit);
        }
    }
    fn dequeue(&mut self, _: Time, _: &mut Actions) -> Option<u64> {
        self.0.pop_front()
    }
}

#[test]
fn a_queue_of_a_user_is_at_the_hop_that_it_is_put_at() {
    let fifo = || Spec::Plugin(PluginParams::new("fifo", |_| Box::new(Fifo::default())));
    let hop = dsl().line.hops[0].name.clone();
    let mut named = dsl();
    named.line.hops[0].up.queue = "fifo limit 50p".parse().unwrap();
    for path in [format!("hop.{hop}.up.queue"), "hop.0.up.queue".to_owned()] {
        let mut plan = dsl();
        plan.set_plugin(&path, PluginValue::Queue(fifo())).unwrap();
        assert_eq!(simulate(&plan, &Options::new(1)).digest, simulate(&named, &Options::new(1)).digest);
    }
    for path in
        ["hop.none.up.queue", "hop.0.sideways.queue", "hop.0.up.rate", "queue", "load.congestion_control"]
    {
        let error = dsl().set_plugin(path, PluginValue::Queue(fifo())).unwrap_err();
        assert_eq!(error, format!("unknown key \"{path}\" (expected a queue or a congestion control)"));
    }
}
