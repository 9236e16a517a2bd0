//! Printing: results to stdout, progress and warnings to stderr, and the live picture of a
//! terminal.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "qr")]
mod code;
#[cfg(feature = "clap")]
mod ecn;

#[cfg(feature = "clap")]
pub use ecn::EcnArgs;

use fathom_report::{Detail, Style};
use fathom_text::printable;
use std::io::{self, ErrorKind, IsTerminal, Write};
use terminal_size::{Height, Width, terminal_size_of};

/// Columns of a summary that does not go to a terminal.
const PLAIN_COLUMNS: u16 = 100;

/// When to use color.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum When {
    /// If a stream is a terminal that has colors.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// How a command prints: its global flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Console {
    /// When to use color.
    pub color: When,
    /// How much it prints (`-q`, `-v`).
    pub detail: Detail,
    /// Whether progress may be shown.
    pub has_progress: bool,
}

impl Console {
    /// Whether only the headline is printed.
    pub fn is_quiet(self) -> bool {
        self.detail == Detail::Quiet
    }
    /// Writes a notice to stderr, such as the name of a written file. Silent with `-q`.
    pub fn note(self, text: &str) {
        if !self.is_quiet() {
            warn(text);
        }
    }
    #[cfg(feature = "qr")]
    /// Shows the QR code of an address on stderr, if it is a terminal that can.
    pub fn show_code(self, address: &str) {
        let form = style(self.color, io::stderr().is_terminal());
        if let Some(code) = code::qr(address).filter(|_| form.color && form.unicode && !self.is_quiet()) {
            // If that fails, the address is in the text.
            let _ = writeln!(io::stderr().lock(), "{code}");
        }
    }
    /// Writes a line of progress to stderr if it is a terminal, or with `-v`.
    pub fn progress(self, text: &str) {
        if self.has_progress && (self.detail == Detail::Verbose || io::stderr().is_terminal()) {
            warn(text);
        }
    }
    /// Whether a line or picture of progress can be redrawn on stderr.
    pub fn can_redraw(self) -> bool {
        self.has_progress && !is_dumb() && io::stderr().is_terminal()
    }
    /// Style and width of stdout.
    pub fn stdout_form(self) -> (Style, u16) {
        let columns = terminal_size_of(io::stdout()).map_or(PLAIN_COLUMNS, |(Width(w), _)| w);
        let style = style(self.color, io::stdout().is_terminal());
        (Style { detail: self.detail, ..style }, columns)
    }
}

/// Writes a result to stdout. A closed pipe is not an error: the reader has seen enough.
///
/// # Errors
/// Another error of the system.
pub fn print(text: &str) -> io::Result<()> {
    printed(io::stdout().lock().write_all(text.as_bytes()))
}

/// The outcome of writing to stdout, after a flush.
///
/// # Errors
/// An error of the system other than a closed pipe.
pub fn printed(written: io::Result<()>) -> io::Result<()> {
    match written.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Writes a warning or an error to stderr. If that fails, nobody can be informed.
pub fn warn(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

fn is_dumb() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// Style for a stream.
pub fn style(when: When, is_terminal: bool) -> Style {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let color = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => is_terminal && !is_dumb() && !no_color,
    };
    Style { color, unicode: is_unicode() && !is_dumb(), ..Style::default() }
}

/// Whether the locale encodes text as UTF-8. The first variable that is set decides, as in
/// setlocale(3).
fn is_unicode() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|n| std::env::var(n).ok().filter(|v| !v.is_empty()));
    // Without a locale (a service, a container) the output goes to a file or to a modern terminal:
    // both take UTF-8.
    locale.is_none_or(|l| {
        let l = l.to_ascii_lowercase();
        l.contains("utf-8") || l.contains("utf8")
    })
}

/// The live picture on the alternate screen of the terminal. Dropping it restores the main screen.
pub struct Screen {
    style: Style,
}

impl Screen {
    /// Opens the screen if stdout and stderr are terminals that can be drawn on.
    pub fn open(console: Console) -> Option<Screen> {
        if !console.can_redraw() || !io::stdout().is_terminal() {
            return None;
        }
        // Alternate screen, cursor hidden.
        write!(io::stderr(), "\x1b[?1049h\x1b[?25l").ok()?;
        Some(Screen { style: style(console.color, true) })
    }
    /// Draws the output of `render`, which gets columns, rows and style.
    pub fn draw(&mut self, render: impl FnOnce(u16, u16, Style) -> String) {
        let (columns, rows) = terminal_size_of(io::stderr()).map_or((80, 24), |(Width(w), Height(h))| (w, h));
        // Clearing to the end of each line, and then the rest of the screen, avoids flicker.
        let text = render(columns, rows, self.style).trim_end().replace('\n', "\x1b[K\r\n");
        let _ = write!(io::stderr().lock(), "\x1b[H{text}\x1b[K\x1b[J");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = write!(io::stderr(), "\x1b[?25h\x1b[?1049l");
    }
}
