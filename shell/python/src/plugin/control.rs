//! Congestion controls.
use super::{Fault, name, optional};
use fathom_tcp::{
    AckEvent, Cause, Control, ControlConfig, ControlPluginParams, Recovery, Window as Limits, WindowEvent,
};
use fathom_units::{Duration, Rate, Time};
use pyo3::prelude::*;

/// What an ACK reports to a congestion control that is written in Python.
#[pyclass(frozen, get_all, module = "fathom")]
pub(crate) struct Ack {
    /// Time of arrival, in nanoseconds since the start of the run.
    now_ns: u64,
    /// Packets that it delivered, cumulatively or selectively.
    newly_acked: u32,
    /// Whether it carries an ECN echo.
    ece: bool,
    /// Round-trip time of the newest of these packets; None if all were retransmitted.
    rtt_s: Option<f64>,
    /// Smoothed round-trip time (RFC 6298).
    srtt_s: f64,
    /// Minimum round-trip time of the connection.
    min_rtt_s: f64,
    /// One-way delay of the answered packet. Clocks are not synchronized: only changes count.
    one_way_delay_s: f64,
    /// Packets in flight after it.
    in_flight: u32,
    /// Packets delivered in the connection.
    delivered: u64,
    /// Delivery rate of the newest packet's flight; None without a sample.
    rate_packets_per_second: Option<f64>,
    /// Whether the application, not the window, limited that rate.
    is_app_limited: bool,
    /// ``open``, ``disorder``, ``cwr``, ``recovery`` or ``loss``, as in Linux. In ``cwr`` and
    /// ``recovery`` the sender moves the window towards ssthresh itself.
    recovery: &'static str,
    /// Whether the window limited the last round trip, so that it may grow.
    is_cwnd_limited: bool,
}

impl From<&AckEvent> for Ack {
    fn from(ack: &AckEvent) -> Self {
        let rate = ack.rate.filter(|rate| rate.interval > Duration::ZERO);
        Ack {
            now_ns: ack.now.as_nanos(),
            newly_acked: ack.newly_acked,
            ece: ack.ece,
            rtt_s: ack.rtt.map(Duration::as_secs_f64),
            srtt_s: ack.srtt.as_secs_f64(),
            min_rtt_s: ack.min_rtt.as_secs_f64(),
            one_way_delay_s: ack.one_way_delay.as_secs_f64(),
            in_flight: ack.in_flight,
            delivered: ack.delivered,
            rate_packets_per_second: rate.map(|rate| f64::from(rate.delivered) / rate.interval.as_secs_f64()),
            is_app_limited: rate.is_some_and(|rate| rate.is_app_limited),
            recovery: match ack.recovery {
                Recovery::Open => "open",
                Recovery::Disorder => "disorder",
                Recovery::Cwr => "cwr",
                Recovery::Recovery => "recovery",
                Recovery::Loss => "loss",
            },
            is_cwnd_limited: ack.is_cwnd_limited,
        }
    }
}

/// The limits of a sender, which a congestion control sets.
#[pyclass(get_all, set_all, module = "fathom")]
#[derive(Clone, Copy)]
pub(crate) struct Window {
    /// Congestion window in packets, at least 1.
    cwnd: u32,
    /// Slow-start threshold in packets; None before the first congestion.
    ssthresh: Option<u32>,
    /// Maximum payload rate; None sends as ACKs arrive.
    pacing_bits_per_second: Option<f64>,
}

#[pymethods]
impl Window {
    /// Whether the window is below the slow-start threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|threshold| self.cwnd < threshold)
    }
}

impl From<&Limits> for Window {
    fn from(limits: &Limits) -> Self {
        Window {
            cwnd: limits.cwnd,
            ssthresh: Some(limits.ssthresh).filter(|threshold| *threshold < u32::MAX),
            pacing_bits_per_second: limits.pacing.map(|rate| rate.as_bits_per_second() as f64),
        }
    }
}

impl Window {
    fn limits(self) -> Limits {
        Limits {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh.unwrap_or(u32::MAX),
            // A cast saturates.
            pacing: self.pacing_bits_per_second.map(|rate| Rate::from_bits_per_second(rate as u64)),
        }
    }
}

/// The congestion control whose objects `code(mss)` creates, one for each connection.
pub(crate) fn control(code: &Bound<'_, PyAny>, fault: &Fault) -> PyResult<ControlPluginParams> {
    let (name, code, fault) = (name(code)?, code.clone().unbind(), fault.clone());
    Ok(ControlPluginParams::new(&name, move |config: &ControlConfig| {
        Box::new(Python::attach(|py| Connection::create(code.bind(py), config.mss, &fault)))
    }))
}

/// The control of a connection. After an exception the window does not change.
#[derive(Debug)]
struct Connection {
    object: Option<Py<PyAny>>,
    has_on_event: bool,
    owns_window: bool,
    wants_exact_ecn: bool,
    fault: Fault,
}

impl Connection {
    fn create(code: &Bound<'_, PyAny>, mss: u32, fault: &Fault) -> Self {
        let flag = |object: &Bound<'_, PyAny>, name: &str| match object.getattr_opt(name)? {
            Some(flag) => flag.extract(),
            None => Ok(false),
        };
        let made = code.call1((mss,)).and_then(|object| {
            Ok(Connection {
                has_on_event: optional(&object, "on_event")?,
                owns_window: flag(&object, "owns_window")?,
                wants_exact_ecn: flag(&object, "wants_exact_ecn")?,
                object: Some(object.unbind()),
                fault: fault.clone(),
            })
        });
        fault.value(made).unwrap_or_else(|| Connection {
            object: None,
            has_on_event: false,
            owns_window: false,
            wants_exact_ecn: false,
            fault: fault.clone(),
        })
    }
    /// Calls a method that may change the window.
    fn change(
        &self,
        limits: &mut Limits,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, Window>) -> PyResult<()>,
    ) {
        let Some(object) = self.object.as_ref().filter(|_| !self.fault.is_set()) else { return };
        Python::attach(|py| {
            let result = Bound::new(py, Window::from(&*limits)).and_then(|window| {
                call(object.bind(py), &window)?;
                Ok(*window.borrow())
            });
            match self.fault.value(result) {
                Some(window) if window.cwnd == 0 => {
                    self.fault.set_wrong(py, "cwnd: 0 is out of range (expected at least 1)");
                }
                Some(window) => *limits = window.limits(),
                None => {}
            }
        });
    }
}

/// A copy of the object, as `copy.deepcopy` makes it.
impl Clone for Connection {
    fn clone(&self) -> Self {
        let copied = self.object.as_ref().and_then(|object| {
            Python::attach(|py| {
                let copied = py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (object,)));
                self.fault.value(copied.map(Bound::unbind))
            })
        });
        Connection { object: copied, fault: self.fault.clone(), ..*self }
    }
}

impl Control for Connection {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Limits) {
        self.change(window, |object, limits| {
            object.call_method1("on_ack", (Ack::from(ack), limits)).map(drop)
        });
    }
    fn reduce(&mut self, cause: Cause, now: Time, window: &Limits) -> u32 {
        let half = (window.cwnd / 2).max(2);
        let cause = match cause {
            Cause::Loss => "loss",
            Cause::Ecn => "ecn",
            Cause::Timeout => "timeout",
        };
        let Some(object) = self.object.as_ref().filter(|_| !self.fault.is_set()) else { return half };
        Python::attach(|py| {
            let arguments = (cause, now.as_nanos(), Window::from(window));
            let threshold = object.bind(py).call_method1("reduce", arguments);
            match self.fault.value(threshold.and_then(|threshold| threshold.extract::<u32>())) {
                Some(threshold) if threshold < 2 => {
                    let what = format!("reduce: {threshold} is out of range (expected at least 2 packets)");
                    self.fault.set_wrong(py, what);
                    half
                }
                threshold => threshold.unwrap_or(half),
            }
        })
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Limits) {
        if !self.has_on_event {
            return;
        }
        let event = match event {
            WindowEvent::Start { .. } => "start",
            WindowEvent::Recovered => "recovered",
            WindowEvent::TimedOut => "timed_out",
            WindowEvent::Undone => "undone",
        };
        self.change(window, |object, limits| {
            object.call_method1("on_event", (event, now.as_nanos(), limits)).map(drop)
        });
    }
    fn owns_window(&self) -> bool {
        self.owns_window
    }
    fn wants_exact_ecn(&self) -> bool {
        self.wants_exact_ecn
    }
}
