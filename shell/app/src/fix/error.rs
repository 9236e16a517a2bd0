//! Errors of a fix.
use crate::{AppError, ExitClass};
use fathom_client::TestError;
use fathom_fix::FixError;
use fathom_run::threshold::SHAPER_RATE_RATIO;
use fathom_shape::autorate::ConfigError;
use fathom_shaper::ApplyError;
use fathom_shaper_export::Refusal;
use std::fmt;

/// Why a fix has no result. `Display` also says what to try.
#[derive(Debug)]
pub enum FixFailure {
    /// Neither an interface nor a server was given.
    NothingToShape,
    /// No interface of this host can have this name.
    Interface(String),
    /// No interface was given, and there is no default route.
    NoDefaultRoute,
    /// No interface was given, and several interfaces have a default route.
    SeveralDefaultRoutes(Vec<String>),
    /// No rate was given, and no server to search for one.
    NoRates,
    /// Autorate has no delay source.
    NoDelaySource,
    /// Autorate has too many reflectors.
    TooManyReflectors {
        /// Number of runs.
        count: usize,
        /// The maximum.
        max: usize,
    },
    /// The bounds of autorate contradict each other.
    Bounds(ConfigError),
    /// This process may not change queues.
    NotRoot,
    /// The interface could not be changed or restored.
    Shaper(ApplyError),
    /// The platform cannot shape so.
    Export(Refusal),
    /// A search or autorate failed.
    Fix(FixError),
}

impl FixFailure {
    pub(crate) const fn class(&self) -> ExitClass {
        match self {
            FixFailure::NotRoot
            | FixFailure::Shaper(_)
            | FixFailure::Fix(FixError::Apply(_) | FixError::Stopped) => ExitClass::Environment,
            FixFailure::Fix(FixError::Test(TestError::Config(_))) => ExitClass::Input,
            FixFailure::Fix(FixError::Test(_)) => ExitClass::Environment,
            FixFailure::Fix(FixError::NoKnee(..) | FixError::OutOfTrials(_) | FixError::Incomplete(_)) => {
                ExitClass::Invalid
            }
            _ => ExitClass::Input,
        }
    }
}

impl fmt::Display for FixFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FixFailure::NothingToShape => f.write_str(
                "no interface and no rates given\n  try: fathom fix --server HOST, or fathom fix eth0 --up 9.5mbit --down 47mbit",
            ),
            FixFailure::Interface(name) => write!(
                f,
                "invalid interface name {name:?} (expected 1 to 15 characters without space, / : %)"
            ),
            FixFailure::NoDefaultRoute => f.write_str(
                "no interface given and no default route\n  try: fathom fix DEV --server HOST (see `ip -br link`)",
            ),
            FixFailure::SeveralDefaultRoutes(routes) => write!(
                f,
                "several interfaces have a default route: {}\n  try: fathom fix {} --server HOST",
                routes.join(", "),
                routes.first().map_or("DEV", String::as_str)
            ),
            FixFailure::NoRates => write!(
                f,
                "no rate given: --up, --down or both are needed\n  try: the rates that `fathom test` measures, less {:.0} %; \
                 or --server HOST",
                (1.0 - SHAPER_RATE_RATIO[1]) * 100.0
            ),
            FixFailure::NoDelaySource => f.write_str(
                "--auto needs a delay source\n  try: --server HOST, --reflector ADDR (four), or --passive",
            ),
            FixFailure::TooManyReflectors { count, max } => {
                write!(f, "--reflector: {count} hosts exceed the limit of {max}\n  try: the nearest six")
            }
            FixFailure::Bounds(error) => {
                write!(f, "{error}\n  try: --least-up, --up and --most-up (or -down) in this order")
            }
            FixFailure::NotRoot => f.write_str(
                "changing queues needs root (CAP_NET_ADMIN)\n  try: sudo fathom fix ...",
            ),
            FixFailure::Shaper(error) | FixFailure::Fix(FixError::Apply(error)) => {
                let hint = if error.is_permission() { "\n  try: sudo fathom fix ..." } else { "" };
                write!(f, "{error}{hint}")
            }
            FixFailure::Export(refusal) => refusal.fmt(f),
            FixFailure::Fix(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FixFailure {}

impl From<ApplyError> for AppError {
    fn from(error: ApplyError) -> Self {
        FixFailure::Shaper(error).into()
    }
}

impl From<FixError> for AppError {
    fn from(error: FixError) -> Self {
        FixFailure::Fix(error).into()
    }
}
