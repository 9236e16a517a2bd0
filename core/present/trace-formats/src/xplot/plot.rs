//! The language of xplot: a line sets the color of the following lines, each other line draws.
use crate::files::{Files, Gathered};
use crate::number::Seconds;
use alloc::string::String;
use core::fmt::{self, Display, Write};

/// A color, by its name in xplot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colour {
    White,
    Green,
    Red,
    Blue,
    Yellow,
    Purple,
    Orange,
    Magenta,
    Pink,
}

impl Colour {
    const fn name(self) -> &'static str {
        match self {
            Colour::White => "white",
            Colour::Green => "green",
            Colour::Red => "red",
            Colour::Blue => "blue",
            Colour::Yellow => "yellow",
            Colour::Purple => "purple",
            Colour::Orange => "orange",
            Colour::Magenta => "magenta",
            Colour::Pink => "pink",
        }
    }
}

/// A file of one graph over time.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    file: Gathered,
    colour: Option<Colour>,
    result: fmt::Result,
}

/// What a graph says about itself.
pub(super) struct Heading<'a> {
    pub(super) title: fmt::Arguments<'a>,
    /// What it shows over time.
    pub(super) label: &'a str,
    /// How the numbers of that are written: `double` or `signed`.
    pub(super) kind: &'a str,
}

impl Plot {
    pub(super) fn new(name: String, heading: &Heading<'_>) -> Self {
        let mut plot = Plot { file: Gathered::new(name), colour: None, result: Ok(()) };
        let Heading { title, label, kind } = heading;
        plot.line(format_args!("timeval {kind}\ntitle\n{title}\nxlabel\ntime\nylabel\n{label}"));
        plot
    }
    fn line(&mut self, text: fmt::Arguments<'_>) {
        if self.result.is_ok() {
            self.result = writeln!(self.file, "{text}");
        }
    }
    /// The following lines have this color.
    pub(super) fn colour(&mut self, colour: Colour) {
        if self.colour != Some(colour) {
            self.colour = Some(colour);
            self.line(format_args!("{}", colour.name()));
        }
    }
    /// A mark at a point: `dot`, `diamond`, `box`, a tick or an arrow.
    pub(super) fn mark(&mut self, mark: &str, at: i64, y: impl Display) {
        self.line(format_args!("{mark} {} {y}", Seconds(at)));
    }
    pub(super) fn join(&mut self, from: (i64, impl Display), to: (i64, impl Display)) {
        self.line(format_args!("line {} {} {} {}", Seconds(from.0), from.1, Seconds(to.0), to.1));
    }
    /// Text next to a point: `a`bove, `b`elow, `l`eft, `r`ight of it.
    pub(super) fn text(&mut self, side: char, at: i64, y: impl Display, text: impl Display) {
        self.line(format_args!("{side}text {} {y}\n{text}", Seconds(at)));
    }
    /// Gives what was drawn, if it is much.
    pub(super) fn pass(&mut self, files: &mut impl Files) -> fmt::Result {
        self.result?;
        self.file.pass(files)
    }
    /// The graph is complete.
    pub(super) fn finish(mut self, files: &mut impl Files) -> fmt::Result {
        self.line(format_args!("go"));
        self.result?;
        self.file.flush(files)
    }
}
