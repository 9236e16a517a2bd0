//! Rate against buffer size of many results, on logarithmic axes with lines of equal delay: the
//! plot with which Netalyzr showed the buffers of 130,000 lines (Kreibich et al., IMC 2010).
use crate::axis::Axis;
use crate::svg::{CHART_STYLE, PALETTE, Panel, SIZE};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::Conclusion;
use fathom_units::Direction;

/// Delays of the diagonals, and their names.
const DELAYS: [(f64, &str); 5] =
    [(0.001, "1 ms"), (0.01, "10 ms"), (0.1, "100 ms"), (1.0, "1 s"), (10.0, "10 s")];
/// Labels of an axis.
const TICKS: usize = 12;

/// The buffer of one direction of one result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BufferPoint {
    /// Its direction.
    pub direction: Direction,
    /// Rate of the link in bit/s.
    pub bits_per_second: f64,
    /// Size of the buffer in bytes.
    pub bytes: f64,
    /// The buffer may be larger.
    pub is_lower_bound: bool,
}

/// The buffers that results show. A managed queue has none: its length says nothing about it.
pub fn buffer_points(diagnoses: &[&Diagnosis]) -> Vec<BufferPoint> {
    let findings = diagnoses.iter().flat_map(|diagnosis| &diagnosis.findings);
    let points = findings.filter_map(|finding| {
        let (bits_per_second, bytes, is_lower_bound) = match &finding.conclusion {
            Conclusion::BufferSize(size) => {
                (size.rate_bits_per_second, size.ethernet_bytes, size.is_lower_bound)
            }
            Conclusion::MeasuredBuffer(buffer) if !buffer.may_be_managed() => {
                (buffer.rate_bits_per_second.value, buffer.bytes.value, buffer.is_lower_bound)
            }
            _ => return None,
        };
        Some(BufferPoint { direction: finding.direction?, bits_per_second, bytes, is_lower_bound })
    });
    points.filter(|point| point.bits_per_second > 0.0 && point.bytes > 0.0).collect()
}

/// The plot as one self-contained picture; `None` without any point.
pub fn scatter(points: &[BufferPoint]) -> Option<String> {
    let range = |of: fn(&BufferPoint) -> f64| {
        let low = points.iter().map(of).min_by(f64::total_cmp)?;
        Some((low, points.iter().map(of).max_by(f64::total_cmp)?))
    };
    let (slow, fast) = range(|point| point.bits_per_second / 1e6)?;
    let (small, large) = range(|point| point.bytes / 1e3)?;
    let mut panel = Panel::new(Axis::log(slow, fast, TICKS), Axis::log(small, large, TICKS));
    panel.grid("");
    for (delay_s, name) in DELAYS {
        panel.diagonal(125.0 * delay_s, name);
    }
    for direction in Direction::BOTH {
        let of_it: Vec<&BufferPoint> = points.iter().filter(|point| point.direction == direction).collect();
        for point in &of_it {
            let at = (point.bits_per_second / 1e6, point.bytes / 1e3);
            panel.mark(direction.name(), at, point.is_lower_bound);
        }
        if !of_it.is_empty() {
            panel.key(direction.name(), format!("{} {}", of_it.len(), direction.name()));
        }
    }
    let chart =
        panel.finish("Buffer size in kB by rate in Mbit/s; triangles: at least; lines: delay when full")?;
    let [width, height] = SIZE;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\
         <style>{PALETTE}{CHART_STYLE}</style><rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"10\"/>{chart}</svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(direction: Direction, megabits: f64, kilobytes: f64, is_lower_bound: bool) -> BufferPoint {
        BufferPoint { direction, bits_per_second: megabits * 1e6, bytes: kilobytes * 1e3, is_lower_bound }
    }

    /// 1 Mbit/s and 12.5 kB are on the line of 100 ms, at both ends of the axes.
    #[test]
    fn points_lie_on_the_line_of_their_delay() {
        let points = [
            point(Direction::Up, 1.0, 12.5, false),
            point(Direction::Up, 100.0, 1_250.0, false),
            point(Direction::Down, 10.0, 125.0, true),
        ];
        let picture = scatter(&points).expect("three points");
        let centers: Vec<(f64, f64)> = picture
            .split("<circle")
            .skip(1)
            .map(|circle| {
                let number = |name: &str| {
                    let from = circle.split(&format!("{name}=\"")).nth(1).expect(name);
                    from.split('"').next().and_then(|text| text.parse().ok()).expect(name)
                };
                (number("cx"), number("cy"))
            })
            .collect();
        let [first, second] = centers[..] else { panic!("{centers:?}") };
        let middle = ((first.0 + second.0) / 2.0, (first.1 + second.1) / 2.0);
        // The triangle of the lower bound is halfway, as its rate and its size are.
        assert!(picture.contains(&format!(
            "<path class=\"dot down\" d=\"M{:.1} {:.1}",
            middle.0,
            middle.1 - 4.0
        )));
        assert!(picture.contains(">100 ms</text>"));
        assert!(picture.contains("2 up") && picture.contains("1 down"));
        assert_eq!(scatter(&[]), None);
    }
}
