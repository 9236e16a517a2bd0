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

impl<W: Write> Csv<W> {
    /// Writes a text so that a spreadsheet does not take it for a formula (CWE-1236): names of
    /// targets can come from others.
    fn text(&mut self, text: &str) -> Result<()> {
        let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
        if text.contains([',', '"', '\n', '\r']) {
            write!(self.to, "\"{guard}{}\"", text.replace('"', "\"\""))
        } else {
            write!(self.to, "{guard}{text}")
        }
    }
}

impl<W: Write> Table for Csv<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                self.to.write_all(b",")?;
            }
            match cell {
                Cell::Text(text) => self.text(text)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula_or_breaks_its_row() {
        let mut bytes = Vec::new();
        let mut csv = Box::new(Csv::new(&mut bytes, &[]).unwrap());
        let texts = ["=1+1", "+1", "-1", "@x", "\tx", "=a,\"b\"", "a=1", "", "router"];
        texts.iter().for_each(|text| csv.row(&[Cell::Text(text), Cell::Number(Some(-1.0))]).unwrap());
        csv.finish().unwrap();
        let expected = "\r\n'=1+1,-1\r\n'+1,-1\r\n'-1,-1\r\n'@x,-1\r\n'\tx,-1\r\n\"'=a,\"\"b\"\"\",-1\r\na=1,-1\r\n,-1\r\nrouter,-1\r\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
