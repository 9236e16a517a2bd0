//! Reads a page's data again, by its own code: what the page's script does, in another language and
//! by another hand.
use std::collections::BTreeMap;

/// A segment, an ACK, a round trip or a event, column by column.
pub(crate) type Columns = Vec<Vec<u64>>;

#[derive(Debug)]
pub(crate) struct Track {
    pub(crate) name: String,
    pub(crate) flow: u64,
    pub(crate) end: u64,
    pub(crate) bytes: u64,
    /// Maximum number of rows that each row represents.
    pub(crate) strides: [u64; 5],
    /// at, frame, kind, start, stop, outstanding.
    pub(crate) segments: Columns,
    /// at, frame, acknowledgment, delivered, window, block from, block bytes.
    pub(crate) acks: Columns,
    /// at, low, high: by sequence, by timestamps, ambiguous.
    pub(crate) trips: [Columns; 3],
    /// at, frame, code, start, bytes, repair.
    pub(crate) events: Columns,
    /// begin, end, losses.
    pub(crate) episodes: Vec<[u64; 3]>,
}

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) begin: i64,
    pub(crate) span: u64,
    pub(crate) steps_back: u64,
    pub(crate) tracks: Vec<Track>,
    pub(crate) curves: BTreeMap<String, Vec<(u64, f32)>>,
    pub(crate) levels: BTreeMap<String, f64>,
    /// Pairs of hosts.
    pub(crate) routes: Vec<String>,
    pub(crate) probes: Vec<Probes>,
}

#[derive(Debug)]
pub(crate) struct Probes {
    pub(crate) name: String,
    pub(crate) unanswered: u64,
    pub(crate) stride: u64,
    /// at, took, frame, asked frame, route.
    pub(crate) rows: Columns,
}

struct Reader(std::vec::IntoIter<u8>);

impl Reader {
    fn byte(&mut self) -> u8 {
        self.0.next().expect("the data ends too soon")
    }
    fn number(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    fn signed(&mut self) -> i64 {
        let folded = self.number();
        (folded >> 1) as i64 ^ -((folded & 1) as i64)
    }
    fn text(&mut self) -> String {
        let length = self.number();
        String::from_utf8((0..length).map(|_| self.byte()).collect()).expect("a text")
    }
    fn numbers(&mut self, count: u64) -> Vec<u64> {
        (0..count).map(|_| self.number()).collect()
    }
    fn differences(&mut self, count: u64) -> Vec<u64> {
        let mut value = 0_u64;
        let mut next = |difference: i64| {
            value = value.wrapping_add_signed(difference);
            value
        };
        (0..count).map(|_| next(self.signed())).collect()
    }
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }
    fn added(&mut self) -> String {
        let name = self.text();
        self.text();
        self.numbers(4);
        name
    }
    fn trips(&mut self) -> (u64, Columns) {
        let (count, stride) = (self.number(), self.number());
        let (at, low) = (self.differences(count), self.differences(count));
        let high = self.numbers(count).iter().zip(&low).map(|(more, low)| more + low).collect();
        (stride, vec![at, low, high])
    }
    fn segments(&mut self) -> (u64, Columns) {
        let (count, stride) = (self.number(), self.number());
        let (at, frame, kind) = (self.differences(count), self.differences(count), self.numbers(count));
        let steps: Vec<i64> = (0..count).map(|_| self.signed()).collect();
        let (mut start, mut stop, mut before) = (vec![], vec![], 0_u64);
        for (step, bytes) in steps.into_iter().zip(self.differences(count)) {
            start.push(before.wrapping_add_signed(step));
            before = before.wrapping_add_signed(step) + bytes;
            stop.push(before);
        }
        (stride, vec![at, frame, kind, start, stop, self.differences(count)])
    }
    fn acks(&mut self) -> (u64, Columns) {
        let (count, stride) = (self.number(), self.number());
        let mut columns: Columns = (0..5).map(|_| self.differences(count)).collect();
        columns.extend((0..2).map(|_| self.numbers(count)).collect::<Columns>());
        (stride, columns)
    }
    fn events(&mut self) -> Columns {
        let n = self.number();
        let (at, frame, code) = (self.differences(n), self.differences(n), self.numbers(n));
        let (start, bytes) = (self.differences(n), self.numbers(n));
        vec![at, frame, code, start, bytes, self.differences(n)]
    }
    fn probes(&mut self) -> Probes {
        let name = self.text();
        let [unanswered, stride, n] = [self.number(), self.number(), self.number()];
        let (at, took, frame) = (self.differences(n), self.numbers(n), self.differences(n));
        Probes { name, unanswered, stride, rows: vec![at, took, frame, self.differences(n), self.numbers(n)] }
    }
    fn track(&mut self) -> Track {
        let name = self.text();
        let [flow, end, bytes] = [self.number(), self.number(), self.number()];
        let (a, segments) = self.segments();
        let (b, acks) = self.acks();
        let [(c, t0), (d, t1), (e, t2)] = [self.trips(), self.trips(), self.trips()];
        let events = self.events();
        let episodes = (0..self.number()).map(|_| [self.number(), self.number(), self.number()]);
        let episodes = episodes.map(|[begin, length, losses]| [begin, begin + length, losses]).collect();
        let (strides, trips) = ([a, b, c, d, e], [t0, t1, t2]);
        Track { name, flow, end, bytes, strides, segments, acks, trips, events, episodes }
    }
}

/// The bytes of a page's data.
pub(crate) fn data_of(page: &str) -> Vec<u8> {
    let text =
        page.split("id=\"trace-data\">").nth(1).expect("data").split("</script>").next().expect("its end");
    let symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut word, mut bits) = (vec![], 0_u32, 0);
    for symbol in text.chars().filter(|c| *c != '=') {
        word = word << 6 | symbols.find(symbol).expect("not base64") as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    bytes
}

pub(crate) fn read(page: &str) -> Page {
    let mut from = Reader(data_of(page).into_iter());
    let begin = from.signed().wrapping_mul(1_000_000_000).wrapping_add(from.number() as i64);
    let (span, steps_back) = (from.number(), from.number());
    let tracks = (0..from.number()).map(|_| from.track()).collect();
    let curves = (0..from.number()).map(|_| {
        let name = from.added();
        let count = from.number();
        let at = from.differences(count);
        (name, at.into_iter().map(|at| (at, f32::from_le_bytes(from.bytes()))).collect())
    });
    let curves = curves.collect();
    let levels = (0..from.number()).map(|_| (from.added(), f64::from_le_bytes(from.bytes()))).collect();
    let routes = (0..from.number()).map(|_| from.text()).collect();
    let probes = (0..from.number()).map(|_| from.probes()).collect();
    assert_eq!(from.0.next(), None, "the data goes on behind its end");
    Page { begin, span, steps_back, tracks, curves, levels, routes, probes }
}
