//! Where text goes that belongs into several files.
use alloc::string::String;
use core::fmt::{self, Write};

/// Takes text for files by their names. Thousands of flows make more files than a system lets be
/// open at once: so text comes in pieces, each with the name of the file to whose end it belongs.
pub trait Files {
    /// Adds to the end of the file of this name.
    ///
    /// # Errors
    /// It could not be written. Nothing more is then given.
    fn append(&mut self, name: &str, text: &str) -> fmt::Result;
}

impl<F: FnMut(&str, &str) -> fmt::Result> Files for F {
    fn append(&mut self, name: &str, text: &str) -> fmt::Result {
        self(name, text)
    }
}

/// Text of a file is given when there is so much of it, bytes.
const PIECE: usize = 1 << 13;

/// One file, whose text is gathered to pieces.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    name: String,
    text: String,
}

impl Gathered {
    pub(crate) const fn new(name: String) -> Self {
        Gathered { name, text: String::new() }
    }
    /// Gives what was gathered, if it is a piece.
    pub(crate) fn pass(&mut self, files: &mut impl Files) -> fmt::Result {
        if self.text.len() < PIECE { Ok(()) } else { self.flush(files) }
    }
    /// Gives all that was gathered.
    pub(crate) fn flush(&mut self, files: &mut impl Files) -> fmt::Result {
        if self.text.is_empty() {
            return Ok(());
        }
        let given = files.append(&self.name, &self.text);
        self.text.clear();
        given
    }
}

impl Write for Gathered {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}
