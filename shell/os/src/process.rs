//! Commands that live inside a namespace and end with this process.
use crate::netns::NetNs;
use std::io;
use std::process::{Command, ExitStatus};

/// A command that runs in a network namespace. It ends when this value is dropped, or when this process ends in any way.
#[derive(Debug)]
pub struct Child {}

impl Child {
    /// Starts `command` in `namespace`.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn spawn(command: Command, namespace: &NetNs) -> io::Result<Child> {
        let _ = (command, namespace);
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
    /// Waits for the end of the command.
    ///
    /// # Errors
    /// As `waitpid(2)`.
    pub fn wait(self) -> io::Result<ExitStatus> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}
