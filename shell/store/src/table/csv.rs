//! CSV (RFC 4180).
use super::{Cell, Field, Table};
use std::io::{BufWriter, Result, Write};

/// A CSV table.
pub struct Csv<W: Write> {
    to: BufWriter<W>,
}

impl<W: Write> Csv<W> {
    /// Creates a table and writes the column names.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn new(to: W, fields: &[Field<'_>]) -> Result<Self> {
        let mut csv = Csv { to: BufWriter::new(to) };
        let names: Vec<Cell<'_>> = fields.iter().map(|field| Cell::Text(field.name)).collect();
        csv.row(&names)?;
        Ok(csv)
    }
}

impl<W: Write> Table for Csv<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                self.to.write_all(b",")?;
            }
            match cell {
                Cell::Text(text) if text.contains([',', '"', '\n', '\r']) => {
                    write!(self.to, "\"{}\"", text.replace('"', "\"\""))?;
                }
                Cell::Text(text) => self.to.write_all(text.as_bytes())?,
                Cell::Whole(number) => write!(self.to, "{number}")?,
                Cell::Number(Some(number)) => write!(self.to, "{number}")?,
                Cell::Number(None) => {}
            }
        }
        self.to.write_all(b"\r\n")
    }
    fn finish(mut self: Box<Self>) -> Result<()> {
        self.to.flush()
    }
}
