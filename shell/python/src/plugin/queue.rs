//! Queue disciplines.
use super::{Fault, name, optional};
use crate::error::wrong;
use fathom_qdisc::{Actions, DropReason, Ecn, MarkReason, PluginParams, QueuePlugin, QueuedPacket, Spec};
use fathom_units::Time;
use pyo3::prelude::*;

/// A packet in the queue of a discipline that is written in Python.
#[pyclass(frozen, get_all, module = "fathom")]
pub(crate) struct Packet {
    /// Identifies it in its queue: 0 for the first that arrived.
    number: u64,
    /// Size on the wire.
    bytes: u64,
    /// ``not_ect``, ``ect0``, ``ect1`` or ``ce``. A packet that is ``not_ect`` cannot be marked.
    ecn: &'static str,
    /// Hash of its flow.
    flow: u64,
    /// The six DSCP bits.
    dscp: u8,
}

impl From<QueuedPacket> for Packet {
    fn from(packet: QueuedPacket) -> Self {
        let ecn = match packet.ecn {
            Ecn::NotEct => "not_ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        };
        let QueuedPacket { number, len, flow, dscp, .. } = packet;
        Packet { number, bytes: len.get(), ecn, flow, dscp }
    }
}

/// Drops and marks packets in a queue.
#[pyclass(module = "fathom")]
#[derive(Default)]
pub(crate) struct QueueActions(Actions);

#[pymethods]
impl QueueActions {
    /// Drops the packet with this number. ``reason``: ``aqm``, ``overlimit`` or ``expired``.
    #[pyo3(signature = (number, reason="aqm"))]
    fn drop(&mut self, py: Python<'_>, number: u64, reason: &str) -> PyResult<()> {
        let reason = match reason {
            "aqm" => DropReason::Aqm,
            "overlimit" => DropReason::Overlimit,
            "expired" => DropReason::Expired,
            other => {
                let what = format!("reason: unknown \"{other}\" (expected aqm, overlimit or expired)");
                return Err(wrong(py, what));
            }
        };
        self.0.drop(number, reason);
        Ok(())
    }
    /// Marks the packet with this number: it is ECN-capable, and stays in the queue.
    fn mark(&mut self, number: u64) {
        self.0.mark(number, MarkReason::Aqm);
    }
}

/// The queue discipline whose objects `code(seed)` creates.
pub(crate) fn queue(code: &Bound<'_, PyAny>, fault: &Fault) -> PyResult<Spec> {
    queue_params(code, fault).map(Spec::Plugin)
}

/// As [`queue`], for the checks of a discipline.
pub(crate) fn queue_params(code: &Bound<'_, PyAny>, fault: &Fault) -> PyResult<PluginParams> {
    let (name, code, fault) = (name(code)?, code.clone().unbind(), fault.clone());
    Ok(PluginParams::new(&name, move |seed| {
        Box::new(Python::attach(|py| Discipline::create(code.bind(py), seed, &fault)))
    }))
}

/// A discipline in Python. After an exception, packets leave it in the order of their arrival.
struct Discipline {
    object: Option<Py<PyAny>>,
    has_next_ready: bool,
    fault: Fault,
}

impl Discipline {
    fn create(code: &Bound<'_, PyAny>, seed: u64, fault: &Fault) -> Self {
        let made = code.call1((seed,));
        let made = made.and_then(|object| Ok((optional(&object, "next_ready")?, object.unbind())));
        let (has_next_ready, object) =
            fault.value(made).map_or((false, None), |(has, object)| (has, Some(object)));
        Discipline { object, has_next_ready, fault: fault.clone() }
    }
    /// Calls a method that takes actions. Returns its result.
    fn call<'py, T>(
        &self,
        py: Python<'py>,
        actions: &mut Actions,
        call: impl FnOnce(&Bound<'py, PyAny>, &Bound<'py, QueueActions>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.object.as_ref().filter(|_| !self.fault.is_set())?;
        let result = Bound::new(py, QueueActions::default()).and_then(|theirs| {
            let result = call(object.bind(py), &theirs)?;
            *actions = std::mem::take(&mut theirs.borrow_mut().0);
            Ok(result)
        });
        self.fault.value(result)
    }
}

impl QueuePlugin for Discipline {
    fn enqueue(&mut self, packet: QueuedPacket, now: Time, actions: &mut Actions) {
        let called = Python::attach(|py| {
            self.call(py, actions, |object, theirs| {
                object.call_method1("enqueue", (Packet::from(packet), now.as_nanos(), theirs)).map(drop)
            })
        });
        if called.is_none() {
            actions.drop(packet.number, DropReason::Overlimit);
        }
    }
    fn dequeue(&mut self, now: Time, actions: &mut Actions) -> Option<u64> {
        Python::attach(|py| {
            self.call(py, actions, |object, theirs| {
                object.call_method1("dequeue", (now.as_nanos(), theirs))?.extract()
            })
        })
        .flatten()
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        let object = self.object.as_ref().filter(|_| self.has_next_ready && !self.fault.is_set())?;
        let next: Option<u64> = Python::attach(|py| {
            let next = object.bind(py).call_method1("next_ready", (now.as_nanos(),));
            self.fault.value(next.and_then(|next| next.extract::<Option<u64>>()))
        })?;
        next.map(Time::from_nanos)
    }
    fn on_violation(&self, what: &str) {
        Python::attach(|py| self.fault.set_wrong(py, what));
    }
}
