//! All congestion controls as one enum, dispatched without a virtual call per ACK.
use crate::plugin::BoxedControl;
use crate::{
    AckEvent, Bbr, Bbr3, Cause, Control, Copa, Cubic, Dctcp, Friendliness, Ledbat, LedbatPlusPlus, Prague,
    Reno, Vegas, Westwood, Window, WindowEvent,
};
use crate::{ControlPluginParams, SlowStartExit};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;
use fathom_units::{Duration, FULL_TCP_PAYLOAD, Time};

/// Parameters of the congestion controls. Each uses those that apply to it.
#[derive(Clone, PartialEq, Debug)]
pub struct ControlConfig {
    /// Payload of a full segment, in bytes.
    pub mss: u32,
    /// Clock tick of CUBIC: the kernel's jiffy. 1 ms is HZ=1000.
    pub granularity: Duration,
    /// When CUBIC leaves slow start.
    pub slow_start_exit: SlowStartExit,
    /// CUBIC releases bandwidth faster when its window shrinks twice in a row.
    pub fast_convergence: bool,
    /// CUBIC's Reno-friendly region.
    pub tcp_friendliness: Friendliness,
    /// LEDBAT's target queueing delay; at most 100 ms in RFC 6817.
    pub ledbat_target: Duration,
    /// Seed of BBR's initial phase.
    pub seed: u64,
}

impl Default for ControlConfig {
    fn default() -> Self {
        ControlConfig {
            // 1500 bytes minus 20 for IPv4, 20 for TCP, and 12 for timestamps.
            mss: FULL_TCP_PAYLOAD.get() as u32,
            granularity: Duration::from_millis(1),
            slow_start_exit: SlowStartExit::default(),
            fast_convergence: true,
            tcp_friendliness: Friendliness::Linux,
            ledbat_target: Duration::from_millis(100),
            seed: 1,
        }
    }
}

/// A name that is not a congestion control.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownControl {
    name: String,
}

impl fmt::Display for UnknownControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown congestion control \"{}\" (known:", self.name)?;
        ControlKind::ALL.iter().try_for_each(|kind| write!(f, " {kind}"))?;
        f.write_str(")")
    }
}
impl core::error::Error for UnknownControl {}

/// Declares [`ControlKind`] and [`AnyControl`] from a table: variant, name, type, constructor.
macro_rules! controls {
    ($($(#[$doc:meta])* $variant:ident $name:literal ($type:ty) = $make:expr;)*) => {
        /// A congestion control, with Linux's name.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ControlKind { $($(#[$doc])* $variant,)* }

        impl ControlKind {
            /// All congestion controls.
            pub const ALL: &[ControlKind] = &[$(ControlKind::$variant),*];
            /// The name in `net.ipv4.tcp_congestion_control`.
            pub const fn name(self) -> &'static str {
                match self { $(ControlKind::$variant => $name,)* }
            }
        }

        /// The state of any congestion control.
        #[derive(Clone, Debug)]
        pub enum AnyControl {
            $($(#[$doc])* $variant($type),)*
            /// A congestion control of a user.
            Plugin(BoxedControl),
        }

        impl AnyControl {
            /// Creates the control for a new connection.
            #[must_use]
            pub fn new(kind: ControlKind, config: &ControlConfig) -> Self {
                match kind { $(ControlKind::$variant => AnyControl::$variant($make(config)),)* }
            }
            /// Creates the control of a user for a new connection.
            #[must_use]
            pub fn of_plugin(params: &ControlPluginParams, config: &ControlConfig) -> Self {
                AnyControl::Plugin(params.create(config))
            }
            /// The kind of this control; `None` for that of a user.
            pub const fn kind(&self) -> Option<ControlKind> {
                match self {
                    $(AnyControl::$variant(_) => Some(ControlKind::$variant),)*
                    AnyControl::Plugin(_) => None,
                }
            }
        }

        impl Control for AnyControl {
            fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
                match self {
                    $(AnyControl::$variant(control) => control.on_ack(ack, window),)*
                    AnyControl::Plugin(control) => control.on_ack(ack, window),
                }
            }
            fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32 {
                match self {
                    $(AnyControl::$variant(control) => control.reduce(cause, now, window),)*
                    AnyControl::Plugin(control) => control.reduce(cause, now, window),
                }
            }
            fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
                match self {
                    $(AnyControl::$variant(control) => control.on_event(event, now, window),)*
                    AnyControl::Plugin(control) => control.on_event(event, now, window),
                }
            }
            fn owns_window(&self) -> bool {
                match self {
                    $(AnyControl::$variant(control) => control.owns_window(),)*
                    AnyControl::Plugin(control) => control.owns_window(),
                }
            }
            fn wants_exact_ecn(&self) -> bool {
                match self {
                    $(AnyControl::$variant(control) => control.wants_exact_ecn(),)*
                    AnyControl::Plugin(control) => control.wants_exact_ecn(),
                }
            }
            fn is_l4s(&self) -> bool {
                match self {
                    $(AnyControl::$variant(control) => control.is_l4s(),)*
                    AnyControl::Plugin(control) => control.is_l4s(),
                }
            }
            fn burst_time(&self) -> Duration {
                match self {
                    $(AnyControl::$variant(control) => control.burst_time(),)*
                    AnyControl::Plugin(control) => control.burst_time(),
                }
            }
        }
    };
}

controls! {
    /// Reno with SACK, RFC 5681.
    Reno "reno" (Reno) = |_config| Reno::new();
    /// CUBIC with HyStart, RFC 9438.
    Cubic "cubic" (Cubic) = Cubic::new;
    /// BBR version 1; boxed because it is large.
    Bbr "bbr" (Box<Bbr>) = |config| Box::new(Bbr::new(config));
    /// DCTCP, RFC 8257.
    Dctcp "dctcp" (Dctcp) = |_config| Dctcp::new();
    /// Vegas.
    Vegas "vegas" (Vegas) = |_config| Vegas::new();
    /// Westwood+.
    Westwood "westwood" (Westwood) = Westwood::new;
    /// LEDBAT, RFC 6817; boxed because it is large.
    Ledbat "ledbat" (Box<Ledbat>) = |config| Box::new(Ledbat::new(config));
    /// LEDBAT++; boxed because it is large.
    LedbatPlusPlus "ledbat++" (Box<LedbatPlusPlus>) = |_config| Box::new(LedbatPlusPlus::new());
    /// CUBIC with HyStart++, RFC 9406.
    CubicHyStartPlusPlus "cubic-hystart++" (Cubic) = |config: &ControlConfig| {
        let slow_start_exit = SlowStartExit::HyStartPlusPlus;
        Cubic::new(&ControlConfig { slow_start_exit, ..config.clone() })
    };
    /// BBR version 3; boxed because it is large.
    Bbr3 "bbr3" (Box<Bbr3>) = Bbr3::new;
    /// Prague, for L4S queues.
    Prague "prague" (Prague) = Prague::new;
    /// Copa; boxed because it is large.
    Copa "copa" (Box<Copa>) = |config| Box::new(Copa::new(config));
}

impl fmt::Display for ControlKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ControlKind {
    type Err = UnknownControl;
    fn from_str(name: &str) -> Result<Self, UnknownControl> {
        let known = ControlKind::ALL.iter().find(|kind| kind.name() == name);
        known.copied().ok_or_else(|| UnknownControl { name: name.to_string() })
    }
}
