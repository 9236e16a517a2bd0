//! Congestion controls of users.
use crate::{AckEvent, Cause, Control, ControlConfig, Window, WindowEvent};
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use fathom_units::{Duration, Time};

/// A congestion control outside of this crate: any [`Control`] that can be cloned, printed and
/// sent.
pub trait ControlPlugin: Control + fmt::Debug + Send {
    /// A copy with the same state.
    fn boxed_clone(&self) -> Box<dyn ControlPlugin>;
}

impl<T: Control + Clone + fmt::Debug + Send + 'static> ControlPlugin for T {
    fn boxed_clone(&self) -> Box<dyn ControlPlugin> {
        Box::new(self.clone())
    }
}

type Make = dyn Fn(&ControlConfig) -> Box<dyn ControlPlugin> + Send + Sync;

/// A kind of [`ControlPlugin`]: its name, and how to create one.
#[derive(Clone)]
pub struct ControlPluginParams {
    name: String,
    make: Arc<Make>,
}

impl ControlPluginParams {
    /// `make` creates the control of a new connection.
    pub fn new(
        name: &str,
        make: impl Fn(&ControlConfig) -> Box<dyn ControlPlugin> + Send + Sync + 'static,
    ) -> Self {
        ControlPluginParams { name: name.to_owned(), make: Arc::new(make) }
    }
    /// The name in scenarios and results.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The control of a new connection.
    pub(crate) fn create(&self, config: &ControlConfig) -> BoxedControl {
        BoxedControl((self.make)(config))
    }
}

impl fmt::Debug for ControlPluginParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ControlPluginParams({:?})", self.name)
    }
}

/// Equal if one is a clone of the other.
impl PartialEq for ControlPluginParams {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

/// A [`ControlPlugin`] whose window is checked.
///
/// # Panics
/// If a control sets a window that no sender can have.
#[derive(Debug)]
pub struct BoxedControl(Box<dyn ControlPlugin>);

impl Clone for BoxedControl {
    fn clone(&self) -> Self {
        BoxedControl(self.0.boxed_clone())
    }
}

fn check(window: &Window) {
    assert!(window.cwnd >= 1, "the congestion control set cwnd to 0 (expected at least 1)");
}

impl Control for BoxedControl {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        self.0.on_ack(ack, window);
        check(window);
    }
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32 {
        let threshold = self.0.reduce(cause, now, window);
        assert!(
            threshold >= 2,
            "the congestion control reduced ssthresh to {threshold} (expected at least 2)"
        );
        threshold
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        self.0.on_event(event, now, window);
        check(window);
    }
    fn owns_window(&self) -> bool {
        self.0.owns_window()
    }
    fn wants_exact_ecn(&self) -> bool {
        self.0.wants_exact_ecn()
    }
    fn is_l4s(&self) -> bool {
        self.0.is_l4s()
    }
    fn burst_time(&self) -> Duration {
        self.0.burst_time()
    }
}
