//! The exit codes, in words.
use fathom_app::ExitClass;
use std::fmt::Write;

/// The list of exit codes, for the help, the man page and `docs/exit-codes.md`.
pub(crate) fn exit_codes() -> String {
    let mut text = "Exit codes:\n".to_owned();
    for class in ExitClass::ALL {
        let _ = writeln!(text, "  {}  {}", class as u8, class.meaning());
    }
    text + "\n\
        `fathom lab -- COMMAND` forwards signals, and ends with the exit code of\n\
        COMMAND. A second Ctrl-C ends any other command at once, with 130. A reader\n\
        that closes the pipe, such as `head`, does not change the exit code."
}
