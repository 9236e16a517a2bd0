//! What the program writes: results to stdout, progress to stderr, and the live picture on a terminal.
use crate::args::When;
use crate::failure::Failure;
use fathom_report::Style;
use std::io::{self, ErrorKind, IsTerminal, Write};
use terminal_size::{Height, Width, terminal_size_of};

/// Columns of a summary that does not go to a terminal.
const PLAIN_COLUMNS: u16 = 100;

/// Writes a result to stdout. A closed pipe is a reader that has seen enough, not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::environment(format_args!("stdout: {error}\n  try: -o FILE on another disk")))
        }
        _ => Ok(()),
    }
}

/// Writes progress or an error to stderr; nothing can be done if that fails.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Style for a stream.
pub(crate) fn style(when: When, is_terminal: bool) -> Style {
    let dumb = std::env::var("TERM").is_ok_and(|t| t == "dumb");
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let color = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => is_terminal && !dumb && !no_color,
    };
    Style { color, unicode: is_unicode() && !dumb }
}

/// Style and width of stdout.
pub(crate) fn stdout_form(when: When) -> (Style, u16) {
    let columns = terminal_size_of(io::stdout()).map_or(PLAIN_COLUMNS, |(Width(w), _)| w);
    (style(when, io::stdout().is_terminal()), columns)
}

/// The first of the variables that is set decides, as in setlocale(3).
fn is_unicode() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|n| std::env::var(n).ok().filter(|v| !v.is_empty()));
    // Without any locale (a service, a container) the reader is a file or a modern terminal: both take UTF-8.
    locale.is_none_or(|l| {
        let l = l.to_ascii_lowercase();
        l.contains("utf-8") || l.contains("utf8")
    })
}

/// The live picture: the terminal's other screen, given back when this is dropped.
pub(crate) struct Screen {
    style: Style,
}

impl Screen {
    /// A screen if stderr is a terminal that can be drawn on.
    pub(crate) fn open(when: When) -> Option<Screen> {
        let dumb = std::env::var("TERM").is_ok_and(|t| t == "dumb");
        if dumb || !io::stderr().is_terminal() || !io::stdout().is_terminal() {
            return None;
        }
        // Alternate screen, cursor hidden.
        write!(io::stderr(), "\x1b[?1049h\x1b[?25l").ok()?;
        Some(Screen { style: style(when, true) })
    }
    /// Draws what `render` gives for the present size.
    pub(crate) fn draw(&mut self, render: impl FnOnce(u16, u16, Style) -> String) {
        let (columns, rows) = terminal_size_of(io::stderr()).map_or((80, 24), |(Width(w), Height(h))| (w, h));
        // Each line is cleared to its end, then the rest of the screen, so that nothing flickers.
        let text = render(columns, rows, self.style).trim_end().replace('\n', "\x1b[K\r\n");
        let _ = write!(io::stderr().lock(), "\x1b[H{text}\x1b[K\x1b[J");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = write!(io::stderr(), "\x1b[?25h\x1b[?1049l");
    }
}
