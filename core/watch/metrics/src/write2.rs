//! Remote-write 2.0: `io.prometheus.write.v2.Request`. Field numbers are those of
//! `prompb/io/prometheus/write/v2/types.proto`.
use crate::line::{Points, Written, sample};
use crate::{Family, Kind, Line, Message, Request, native};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A request of remote-write 2.0.
#[derive(Debug)]
pub struct Write2 {
    classic: bool,
    symbols: Symbols,
    series: Message,
    points: u64,
}

/// Each string once. The first is the empty string, which means none.
#[derive(Debug)]
struct Symbols {
    numbers: BTreeMap<String, u64>,
    written: Message,
}

impl Symbols {
    fn new() -> Self {
        let mut symbols = Symbols { numbers: BTreeMap::new(), written: Message::default() };
        symbols.number("");
        symbols
    }
    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u64;
        self.written.bytes(4, text.as_bytes());
        self.numbers.insert(text.to_string(), number);
        number
    }
}

impl Write2 {
    /// An empty request, with native or classic histograms.
    pub fn new(classic: bool) -> Self {
        Write2 { classic, symbols: Symbols::new(), series: Message::default(), points: 0 }
    }
}

impl Request for Write2 {
    fn add(&mut self, line: &Line<'_>) {
        let since_ms = if line.family.kind == Kind::Gauge { 0 } else { line.since_ms };
        let (symbols, all, points) = (&mut self.symbols, &mut self.series, &mut self.points);
        line.each_written(self.classic, |written| {
            let mut series = series(&written, since_ms, symbols);
            series.message(5, &metadata(line.family, symbols));
            all.message(5, &series);
            *points += written.points.len() as u64;
        });
    }
    fn len(&self) -> usize {
        self.symbols.written.len() + self.series.len()
    }
    fn points(&self) -> u64 {
        self.points
    }
    fn take(&mut self) -> Vec<u8> {
        let whole = core::mem::replace(self, Write2::new(self.classic));
        let mut body = whole.symbols.written.into_bytes();
        body.extend(whole.series.into_bytes());
        body
    }
}

fn series(written: &Written<'_>, since_ms: u64, symbols: &mut Symbols) -> Message {
    let mut series = Message::default();
    let mut labels = Message::default();
    for (name, value) in &written.labels {
        labels.varint(symbols.number(name));
        labels.varint(symbols.number(value));
    }
    series.message(1, &labels);
    match &written.points {
        Points::Numbers(numbers) => {
            for number in numbers {
                let mut sample = sample(*number);
                started(&mut sample, 3, since_ms);
                series.message(2, &sample);
            }
        }
        Points::Histograms(histograms) => {
            for (at_ms, sketch) in histograms {
                let mut histogram = native::histogram(*sketch, *at_ms);
                started(&mut histogram, 17, since_ms);
                series.message(3, &histogram);
            }
        }
    }
    series
}

/// Writes the start time; 0 means none.
fn started(message: &mut Message, field: u64, since_ms: u64) {
    if since_ms > 0 {
        message.number(field, since_ms);
    }
}

fn metadata(family: &Family, symbols: &mut Symbols) -> Message {
    let mut metadata = Message::default();
    let kind = match family.kind {
        Kind::Counter => 1,
        Kind::Gauge => 2,
        Kind::Histogram => 3,
    };
    metadata.number(1, kind);
    metadata.number(3, symbols.number(family.help));
    metadata.number(4, symbols.number(family.unit));
    metadata
}
