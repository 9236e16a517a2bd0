//! Errors of the commands that `make demo` does not build.
use super::{AppError, ExitClass};
use crate::audit::AuditError;
use crate::fix::FixFailure;
use crate::sweep::SweepError;
use crate::watch::Period;
use fathom_capture_source::SourceError;
use fathom_dut_ports::DutError;
use fathom_size::SizeError;
use fathom_watch_store::HistoryError;
use fathom_watch_web::{PeriodError, WebError};
use std::fmt;
use std::io::ErrorKind;

/// Why a command other than `demo` has no result.
#[derive(Debug)]
pub enum CommandError {
    /// A buffer calculation failed.
    Size(SizeError),
    /// A fix failed.
    Fix(FixFailure),
    /// A sweep failed.
    Sweep(SweepError),
    /// A capture or an interface cannot be read.
    CaptureSource(SourceError),
    /// A period is empty.
    EmptyPeriod(Period),
    /// A period of a watch has no result.
    NoPeriod(PeriodError),
    /// The web page of a watch cannot be served.
    Page(WebError),
    /// A host could not be audited.
    Audit(AuditError),
    /// A switch could not be tested.
    Dut(DutError),
}

impl CommandError {
    /// The exit class of the error.
    pub(super) fn class(&self) -> ExitClass {
        match self {
            // A wrong name, as for every other file that is read.
            CommandError::CaptureSource(SourceError::Io { source, .. })
                if source.kind() == ErrorKind::NotFound =>
            {
                ExitClass::Input
            }
            CommandError::Sweep(SweepError::Table(_))
            | CommandError::CaptureSource(SourceError::Io { .. } | SourceError::Interface(_))
            | CommandError::Page(_) => ExitClass::Environment,
            CommandError::Audit(error) if !matches!(error, AuditError::UnknownInterface { .. }) => {
                ExitClass::Environment
            }
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
            CommandError::Fix(failure) => failure.class(),
            _ => ExitClass::Input,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Size(error) => error.fmt(f),
            CommandError::Fix(error) => error.fmt(f),
            CommandError::Sweep(error) => error.fmt(f),
            CommandError::CaptureSource(error) => error.fmt(f),
            CommandError::EmptyPeriod(Period { from, to }) => {
                write!(f, "the period from {from} to {to} is empty: its end must be after its start")
            }
            CommandError::NoPeriod(error) => error.fmt(f),
            CommandError::Page(error) => error.fmt(f),
            CommandError::Audit(error) => error.fmt(f),
            CommandError::Dut(error) => error.fmt(f),
        }
    }
}

impl AppError {
    pub(crate) fn history(error: HistoryError) -> Self {
        AppError::History(error.to_string())
    }
}

impl From<DutError> for AppError {
    fn from(error: DutError) -> Self {
        AppError::Command(CommandError::Dut(error))
    }
}

impl From<SizeError> for AppError {
    fn from(error: SizeError) -> Self {
        AppError::Command(CommandError::Size(error))
    }
}

impl From<FixFailure> for AppError {
    fn from(failure: FixFailure) -> Self {
        AppError::Command(CommandError::Fix(failure))
    }
}

impl From<SweepError> for AppError {
    fn from(error: SweepError) -> Self {
        AppError::Command(CommandError::Sweep(error))
    }
}

impl From<SourceError> for AppError {
    fn from(error: SourceError) -> Self {
        AppError::Command(CommandError::CaptureSource(error))
    }
}

impl From<AuditError> for AppError {
    fn from(error: AuditError) -> Self {
        AppError::Command(CommandError::Audit(error))
    }
}

impl From<WebError> for AppError {
    fn from(error: WebError) -> Self {
        AppError::Command(CommandError::Page(error))
    }
}

impl From<PeriodError> for AppError {
    fn from(error: PeriodError) -> Self {
        match error {
            PeriodError::History(why) => AppError::History(why),
            error => AppError::Command(CommandError::NoPeriod(error)),
        }
    }
}
