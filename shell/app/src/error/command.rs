//! Errors of the commands that `make demo` does not build.
use super::{AppError, ExitClass};
#[cfg(feature = "host")]
use crate::audit::AuditError;
#[cfg(feature = "host")]
use crate::fix::FixFailure;
#[cfg(feature = "full")]
use crate::history::Period;
#[cfg(feature = "sweep")]
use crate::sweep::SweepError;
#[cfg(feature = "analysis")]
use fathom_capture_source::SourceError;
#[cfg(feature = "full")]
use fathom_dut_ports::DutError;
#[cfg(feature = "full")]
use fathom_ecn_sockets::EcnError;
#[cfg(feature = "analysis")]
use fathom_size::SizeError;
#[cfg(feature = "full")]
use fathom_watch_store::HistoryError;
#[cfg(feature = "full")]
use fathom_watch_web::PeriodError;
#[cfg(feature = "full")]
use fathom_web::WebError;
use std::fmt;
#[cfg(feature = "analysis")]
use std::io::ErrorKind;

/// Why a command other than `demo` has no result.
#[derive(Debug)]
pub enum CommandError {
    /// A buffer calculation failed.
    #[cfg(feature = "analysis")]
    Size(SizeError),
    /// A fix failed.
    #[cfg(feature = "host")]
    Fix(FixFailure),
    /// A sweep failed.
    #[cfg(feature = "sweep")]
    Sweep(SweepError),
    /// A capture or an interface cannot be read.
    #[cfg(feature = "analysis")]
    CaptureSource(SourceError),
    /// A period is empty.
    #[cfg(feature = "full")]
    EmptyPeriod(Period),
    /// A period of a watch has no result.
    #[cfg(feature = "full")]
    NoPeriod(PeriodError),
    /// The web page of a watch cannot be served.
    #[cfg(feature = "full")]
    Page(WebError),
    /// A host could not be audited.
    #[cfg(feature = "host")]
    Audit(AuditError),
    /// A switch could not be tested.
    #[cfg(feature = "full")]
    Dut(DutError),
    /// ECN could not be tested.
    #[cfg(feature = "full")]
    Ecn(EcnError),
    /// A list of hosts, or the file of a survey, has an error. The text names its place.
    #[cfg(feature = "full")]
    EcnList(String),
}

impl CommandError {
    /// The exit class of the error.
    pub(super) fn class(&self) -> ExitClass {
        match self {
            // A wrong name, as for every other file that is read.
            #[cfg(feature = "analysis")]
            CommandError::CaptureSource(SourceError::Io { source, .. })
                if source.kind() == ErrorKind::NotFound =>
            {
                ExitClass::Input
            }
            #[cfg(feature = "analysis")]
            CommandError::CaptureSource(SourceError::Io { .. } | SourceError::Interface(_)) => {
                ExitClass::Environment
            }
            #[cfg(feature = "sweep")]
            CommandError::Sweep(SweepError::Table(_)) => ExitClass::Environment,
            #[cfg(feature = "full")]
            CommandError::Page(_) | CommandError::Ecn(_) => ExitClass::Environment,
            #[cfg(feature = "host")]
            CommandError::Audit(error) if !matches!(error, AuditError::UnknownInterface { .. }) => {
                ExitClass::Environment
            }
            #[cfg(feature = "full")]
            CommandError::Dut(
                DutError::NotPermitted
                | DutError::Namespace(_)
                | DutError::NoCarrier { .. }
                | DutError::NoMacvlan { .. }
                | DutError::NotConnected { .. }
                | DutError::CannotOverload { .. }
                | DutError::Stopped
                | DutError::System { .. },
            ) => ExitClass::Environment,
            #[cfg(feature = "host")]
            CommandError::Fix(failure) => failure.class(),
            _ => ExitClass::Input,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "analysis")]
            CommandError::Size(error) => error.fmt(f),
            #[cfg(feature = "host")]
            CommandError::Fix(error) => error.fmt(f),
            #[cfg(feature = "sweep")]
            CommandError::Sweep(error) => error.fmt(f),
            #[cfg(feature = "analysis")]
            CommandError::CaptureSource(error) => error.fmt(f),
            #[cfg(feature = "full")]
            CommandError::EmptyPeriod(Period { from, to }) => {
                write!(f, "the period from {from} to {to} is empty")
            }
            #[cfg(feature = "full")]
            CommandError::NoPeriod(error) => error.fmt(f),
            #[cfg(feature = "full")]
            CommandError::Page(error) => error.fmt(f),
            #[cfg(feature = "host")]
            CommandError::Audit(error) => error.fmt(f),
            #[cfg(feature = "full")]
            CommandError::Dut(error) => error.fmt(f),
            #[cfg(feature = "full")]
            CommandError::Ecn(error) => error.fmt(f),
            #[cfg(feature = "full")]
            CommandError::EcnList(text) => f.write_str(text),
        }
    }
}

#[cfg(feature = "full")]
impl AppError {
    /// A history that cannot be read.
    #[must_use]
    pub fn history(error: HistoryError) -> Self {
        AppError::History(error.to_string())
    }
}

#[cfg(feature = "full")]
impl From<DutError> for AppError {
    fn from(error: DutError) -> Self {
        AppError::Command(CommandError::Dut(error))
    }
}

#[cfg(feature = "full")]
impl From<EcnError> for AppError {
    fn from(error: EcnError) -> Self {
        AppError::Command(CommandError::Ecn(error))
    }
}

#[cfg(feature = "analysis")]
impl From<SizeError> for AppError {
    fn from(error: SizeError) -> Self {
        AppError::Command(CommandError::Size(error))
    }
}

#[cfg(feature = "host")]
impl From<FixFailure> for AppError {
    fn from(failure: FixFailure) -> Self {
        AppError::Command(CommandError::Fix(failure))
    }
}

#[cfg(feature = "sweep")]
impl From<SweepError> for AppError {
    fn from(error: SweepError) -> Self {
        AppError::Command(CommandError::Sweep(error))
    }
}

#[cfg(feature = "analysis")]
impl From<SourceError> for AppError {
    fn from(error: SourceError) -> Self {
        AppError::Command(CommandError::CaptureSource(error))
    }
}

#[cfg(feature = "host")]
impl From<AuditError> for AppError {
    fn from(error: AuditError) -> Self {
        AppError::Command(CommandError::Audit(error))
    }
}

#[cfg(feature = "full")]
impl From<WebError> for AppError {
    fn from(error: WebError) -> Self {
        AppError::Command(CommandError::Page(error))
    }
}

#[cfg(feature = "full")]
impl From<PeriodError> for AppError {
    fn from(error: PeriodError) -> Self {
        match error {
            PeriodError::History(why) => AppError::History(why),
            error => AppError::Command(CommandError::NoPeriod(error)),
        }
    }
}
