//! A picture of a verdict, which programs show next to a link to its report: level, headline, and
//! latency over time.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod canvas;
mod chart;

use alloc::vec::Vec;
use canvas::Canvas;
use fathom_diagnose::Diagnosis;
use fathom_prose::Level;
use fathom_run::Run;

/// Width of the picture in pixels, as Open Graph recommends.
pub const WIDTH: u32 = 1200;
/// Height of the picture in pixels.
pub const HEIGHT: u32 = 630;

/// Colors of the light theme: `core/present/report/src/html/palette.css`.
const PAPER: [u8; 3] = [0xff, 0xff, 0xff];
const INK: [u8; 3] = [0x16, 0x19, 0x1d];
const DIM: [u8; 3] = [0x64, 0x6c, 0x78];

/// Space around the text.
const MARGIN: f32 = 70.0;
/// Width of the bar in the color of the level.
const BAR: f32 = 26.0;
const MAX_LINES: usize = 2;

/// The picture: [`WIDTH`] times [`HEIGHT`] pixels from the top left, each of 3 bytes (RGB).
pub fn preview(run: &Run, diagnosis: &Diagnosis) -> Vec<u8> {
    let verdict = fathom_prose::verdict(run, diagnosis);
    let color = match verdict.level {
        Level::Good => [0x2b, 0x8a, 0x3e],
        Level::Fair => [0xb7, 0x79, 0x1f],
        Level::Bad | Level::AtLeastBad => [0xc9, 0x2a, 0x2a],
        Level::NoResult => DIM,
    };
    let mut canvas = Canvas::new(WIDTH, HEIGHT, PAPER);
    canvas.fill((0.0, 0.0), (BAR, HEIGHT as f32), color);
    canvas.text("Fathom", (MARGIN, 80.0), 34.0, DIM);
    canvas.text(verdict.level.word(), (MARGIN, 165.0), 72.0, color);
    let mut baseline = 240.0;
    for line in canvas.lines(&verdict.headline, 48.0, WIDTH as f32 - 2.0 * MARGIN, MAX_LINES) {
        canvas.text(&line, (MARGIN, baseline), 48.0, INK);
        baseline += 60.0;
    }
    chart::draw(&mut canvas, run, diagnosis, (MARGIN, 350.0), (WIDTH as f32 - 2.0 * MARGIN, 220.0));
    canvas.into_pixels()
}
