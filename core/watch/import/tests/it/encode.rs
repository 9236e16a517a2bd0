//! Writes databases as another machine would: each field of `rrd_format.h` where a C compiler for
//! that machine puts it.
use fathom_units::Rng;
use fathom_watch_import::rrd::{Layout, Order};

const COOKIE: f64 = 8.642135e130;

pub(crate) struct Made {
    pub(crate) version: u32,
    pub(crate) layout: Layout,
    pub(crate) step_s: u64,
    pub(crate) updated_s: u64,
    pub(crate) sources: Vec<String>,
    pub(crate) archives: Vec<MadeArchive>,
}

pub(crate) struct MadeArchive {
    pub(crate) function: &'static str,
    pub(crate) steps: u64,
    /// Rows, oldest first.
    pub(crate) rows: Vec<Vec<f64>>,
    /// Index of the newest row.
    pub(crate) newest: usize,
}

/// The bytes of one structure.
struct Fields<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    layout: Layout,
    widest: usize,
}

impl<'o> Fields<'o> {
    fn new(out: &'o mut Vec<u8>, layout: Layout) -> Self {
        let start = out.len();
        Fields { out, start, layout, widest: 1 }
    }
    fn align(&mut self, to: usize) {
        self.widest = self.widest.max(to);
        while !(self.out.len() - self.start).is_multiple_of(to) {
            self.out.push(0);
        }
    }
    fn text(&mut self, text: &str, size: usize) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(size, 0);
        self.out.extend(bytes);
    }
    fn number(&mut self, value: u64, size: usize) {
        // A number is aligned to its size, except on machines with a smaller alignment.
        self.align(size.min(self.layout.align));
        let little = value.to_le_bytes();
        match self.layout.order {
            Order::Little => self.out.extend(&little[..size]),
            Order::Big => self.out.extend(little[..size].iter().rev()),
        }
    }
    fn double(&mut self, value: f64) {
        self.number(value.to_bits(), 8);
    }
    fn parameters(&mut self) {
        (0..10).for_each(|_| self.double(0.5));
    }
    /// Pads the structure to its alignment.
    fn end(mut self) {
        let widest = self.widest;
        self.align(widest);
    }
}

pub(crate) fn encode(made: &Made) -> Vec<u8> {
    let (mut out, layout) = (Vec::new(), made.layout);
    let mut head = Fields::new(&mut out, layout);
    head.text("RRD", 4);
    head.text(&format!("{:04}", made.version), 5);
    head.double(COOKIE);
    for count in [made.sources.len() as u64, made.archives.len() as u64, made.step_s] {
        head.number(count, layout.long);
    }
    head.parameters();
    head.end();
    for name in &made.sources {
        let mut source = Fields::new(&mut out, layout);
        source.text(name, 20);
        source.text("GAUGE", 20);
        source.parameters();
        source.end();
    }
    for archive in &made.archives {
        let mut fields = Fields::new(&mut out, layout);
        fields.text(archive.function, 20);
        fields.number(archive.rows.len() as u64, layout.long);
        fields.number(archive.steps, layout.long);
        fields.parameters();
        fields.end();
    }
    prepared(made, &mut out);
    for archive in &made.archives {
        let mut fields = Fields::new(&mut out, layout);
        fields.number(archive.newest as u64, layout.long);
        fields.end();
    }
    for archive in &made.archives {
        let count = archive.rows.len();
        for place in 0..count {
            let age = (place + count - (archive.newest + 1) % count) % count;
            let mut fields = Fields::new(&mut out, layout);
            archive.rows[age].iter().for_each(|value| fields.double(*value));
        }
    }
    out
}

/// State of the last update.
fn prepared(made: &Made, out: &mut Vec<u8>) {
    let layout = made.layout;
    let mut live = Fields::new(out, layout);
    live.number(made.updated_s, layout.time);
    if made.version >= 3 {
        live.number(0, layout.long);
    }
    live.end();
    for _ in &made.sources {
        let mut fields = Fields::new(out, layout);
        fields.text("U", 30);
        fields.parameters();
        fields.end();
    }
    for _ in 0..made.sources.len() * made.archives.len() {
        Fields::new(out, layout).parameters();
    }
}

pub(crate) fn any(rng: &mut Rng, layout: Layout, version: u32) -> Made {
    let sources = 1 + rng.below(6) as usize;
    let archives = 1 + rng.below(4) as usize;
    Made {
        version,
        layout,
        step_s: [1, 10, 60, 300][rng.below(4) as usize],
        updated_s: 1_700_000_000 + rng.below(1_000_000),
        sources: (0..sources).map(|n| format!("ping{n}")).collect(),
        archives: (0..archives).map(|_| any_archive(rng, sources)).collect(),
    }
}

fn any_archive(rng: &mut Rng, sources: usize) -> MadeArchive {
    let count = 1 + rng.below(9) as usize;
    MadeArchive {
        function: ["AVERAGE", "MIN", "MAX"][rng.below(3) as usize],
        steps: 1 + rng.below(12),
        rows: (0..count).map(|_| (0..sources).map(|_| any_value(rng)).collect()).collect(),
        newest: rng.below(count as u64) as usize,
    }
}

fn any_value(rng: &mut Rng) -> f64 {
    if rng.below(5) == 0 { f64::NAN } else { rng.below(1_000_000) as f64 / 1e6 }
}
