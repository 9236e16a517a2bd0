//! Answers of an engine as they arrive, of any size.
use fathom_fleet_view::{AnswerError, AnswerKind, SeriesLabels, read_answer};
use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 16;

/// How much of an answer is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Number of series.
    pub(crate) series: u64,
    /// Bytes of the whole answer.
    pub(crate) bytes: u64,
    /// Bytes from one series to the next, which may be in memory at once.
    pub(crate) gap_bytes: u64,
}

/// Passes each series of an answer to `take`, one at a time.
///
/// # Errors
/// Why the answer cannot be used. Series before the fault were passed on.
pub(crate) fn each_series(
    body: impl Read,
    kind: AnswerKind,
    limits: Limits,
    mut take: impl FnMut(&SeriesLabels, &[(f64, f64)]),
) -> Result<(), String> {
    let gap = Cell::new(0);
    let bounded = Bounded { body, limits, read: 0, gap: &gap };
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER_BYTES, bounded));
    let mut count = 0;
    let mut each = |labels: &SeriesLabels, points: &[(f64, f64)]| {
        count += 1;
        gap.set(0);
        if count > limits.series {
            return ControlFlow::Break(());
        }
        take(labels, points);
        ControlFlow::Continue(())
    };
    let read = read_answer(&mut json, kind, &mut each).and_then(|answer| json.end().map(|()| answer));
    match read {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) if count > limits.series => Err(too_large(&format!("{} series", limits.series))),
        // The connection, or a limit of bytes.
        Err(error) if error.is_io() => Err(io::Error::from(error).to_string()),
        Err(error) => Err(AnswerError::Invalid(error.to_string()).to_string()),
    }
}

fn too_large(limit: &str) -> String {
    format!("larger than the limit of {limit}; select fewer sites")
}

/// A body up to its limits.
struct Bounded<'g, R> {
    body: R,
    limits: Limits,
    read: u64,
    /// Bytes since the last series.
    gap: &'g Cell<u64>,
}

impl<R> Bounded<'_, R> {
    fn check(&self) -> io::Result<()> {
        let limit = match self.limits {
            Limits { bytes, .. } if self.read > bytes => bytes,
            Limits { gap_bytes, .. } if self.gap.get() > gap_bytes => gap_bytes,
            _ => return Ok(()),
        };
        Err(io::Error::other(too_large(&format!("{limit} bytes"))))
    }
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // After an error, the parser looks for the ends of what it is in: nothing is read for that.
        self.check()?;
        let count = self.body.read(buffer)?;
        self.read += count as u64;
        self.gap.set(self.gap.get() + count as u64);
        self.check().map(|()| count)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what failed by failing")]
mod tests {
    use super::*;

    const SMALL: Limits = Limits { series: 100, bytes: 1 << 20, gap_bytes: 1 << 17 };
    const HEAD: &str = r#"{"status":"success","data":{"resultType":"vector","result":["#;
    const SERIES: &str = r#"{"metric":{"site":"a"},"value":[1,"2"]}"#;

    /// Number of series that were passed on, and what was wrong.
    fn read(body: impl Read, limits: Limits) -> (u64, Result<(), String>) {
        let mut count = 0;
        let read = each_series(body, AnswerKind::Vector, limits, |_, _| count += 1);
        (count, read)
    }

    fn answer(series: usize) -> String {
        let all = vec![SERIES; series].join(",");
        format!("{HEAD}{all}]}},\"warnings\":[]}}")
    }

    #[test]
    fn an_answer_has_its_limit_of_series() {
        assert_eq!(read(answer(100).as_bytes(), SMALL), (100, Ok(())));
        let refused = "larger than the limit of 100 series; select fewer sites".to_owned();
        assert_eq!(read(answer(101).as_bytes(), SMALL), (100, Err(refused)));
    }

    #[test]
    fn an_answer_has_its_limit_of_bytes() {
        // Spaces between series, and one member after another that nobody needs.
        let spaced = (0..20).map(|_| " ".repeat(1 << 16) + SERIES).collect::<Vec<_>>().join(",");
        let too_long = Err("larger than the limit of 1048576 bytes; select fewer sites".to_owned());
        assert_eq!(read(format!("{HEAD}{spaced}").as_bytes(), SMALL).1, too_long);
        let refused = Err("larger than the limit of 131072 bytes; select fewer sites".to_owned());
        for endless in [
            format!("{HEAD}{SERIES}],\"stats\":["),
            format!("{HEAD}{SERIES},{{\"metric\":{{\"site\":\""),
            format!("{HEAD}{SERIES},{{\"other\":\""),
            "{\"status\":\"".to_owned(),
            "{\"".to_owned(),
            String::new(),
        ] {
            // The connection never ends; what is read of it does.
            let forever = io::repeat(if endless.is_empty() { b' ' } else { b'1' });
            let mut taken = Counted(endless.as_bytes().chain(forever), 0);
            assert_eq!(read(&mut taken, SMALL).1, refused, "{endless}");
            assert!(taken.1 < 2 * SMALL.gap_bytes + 2 * BUFFER_BYTES as u64, "{endless}: {}", taken.1);
        }
    }

    #[test]
    fn a_broken_connection_is_no_answer() {
        let whole = answer(50);
        for end in [0, 1, HEAD.len(), whole.len() / 2, whole.len() - 1] {
            let why = read(&whole.as_bytes()[..end], SMALL).1.unwrap_err();
            assert!(why.starts_with("no answer of a Prometheus API: "), "{end}: {why}");
            let broken = whole.as_bytes()[..end].chain(Broken);
            assert_eq!(read(broken, SMALL).1.unwrap_err(), "connection reset", "{end}");
        }
        let refused = br#"{"status":"error","error":"query processing would load too many samples"}"#;
        let why = read(&refused[..], SMALL).1.unwrap_err();
        assert_eq!(why, "the engine reports: query processing would load too many samples");
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("connection reset"))
        }
    }

    struct Counted<R>(R, u64);

    impl<R: Read> Read for Counted<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(buffer)?;
            self.1 += count as u64;
            Ok(count)
        }
    }
}
