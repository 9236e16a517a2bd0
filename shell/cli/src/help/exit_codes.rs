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
        `fathom lab -- COMMAND` ends with the exit code of COMMAND. A second Ctrl-C ends\n\
        a command at once, with 130. A reader that closes the pipe, such as `head`, does\n\
        not change the exit code."
}
