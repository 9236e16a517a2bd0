//! Why a platform cannot shape a line.
use crate::platform::{Platform, QueueKind};
use alloc::string::String;
use core::fmt;
use fathom_units::Rate;

/// What a platform cannot do. `Display` also says what to try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No interface has this name there, or the name is not safe in a configuration.
    Name {
        /// The platform.
        platform: Platform,
        /// The name.
        name: String,
        /// The names that it has.
        expected: &'static str,
    },
    /// The rate is beyond its limits.
    Rate {
        /// The platform.
        platform: Platform,
        /// The rate.
        rate: Rate,
        /// The lowest and the highest rate.
        limits: [Rate; 2],
    },
    /// It has no place to shape the download.
    Download(Platform),
    /// It shapes the download at an interface that is not given.
    NoLan(Platform),
    /// It does not have this queue.
    Queue(Platform, QueueKind),
}

/// Why a platform cannot queue what arrives at the interface to the line.
const NO_IFB: &str = "it has no interfaces of the type ifb; linux-tc has";
const AT_LAN: &str = "it shapes only what leaves, such as to the LAN";

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Name { platform, name, expected } => {
                write!(f, "{platform}: invalid interface name {name:?} (expected {expected})")
            }
            Refusal::Rate { platform, rate, limits: [min, max] } => {
                write!(
                    f,
                    "{platform}: cannot shape to {rate} (expected {min} to {max})\n  try: --export linux-tc"
                )
            }
            Refusal::Download(platform) => {
                write!(f, "{platform}: cannot shape ingress: {NO_IFB}\n  try: omit --down")
            }
            Refusal::NoLan(platform) => {
                write!(f, "{platform}: cannot shape ingress: {AT_LAN}\n  try: --lan DEV")
            }
            Refusal::Queue(platform, queue) => {
                write!(f, "{platform}: no {}\n  try: omit --shaper", queue.name())
            }
        }
    }
}

impl core::error::Error for Refusal {}
