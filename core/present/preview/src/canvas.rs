//! Pixels, and text on them.
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use alloc::string::String;
use alloc::vec::Vec;

/// DejaVu Sans Bold 2.37 with ASCII, –, … and ×; its license is in `font.txt`.
const FONT: &[u8] = include_bytes!("font.ttf");
const ELLIPSIS: char = '…';

/// An RGB color.
pub(crate) type Color = [u8; 3];

/// A picture.
pub(crate) struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
    /// `None` if the font is damaged: then there is no text.
    font: Option<FontRef<'static>>,
}

impl Canvas {
    pub(crate) fn new(width: u32, height: u32, background: Color) -> Self {
        let count = width as usize * height as usize;
        let pixels = background.iter().copied().cycle().take(3 * count).collect();
        Canvas { width, height, pixels, font: FontRef::try_from_slice(FONT).ok() }
    }
    pub(crate) fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }
    /// Mixes a color into a pixel; `share` is from 0 to 1.
    fn blend(&mut self, x: i32, y: i32, color: Color, share: f32) {
        if !(0..self.width as i32).contains(&x) || !(0..self.height as i32).contains(&y) {
            return;
        }
        let at = 3 * (y as usize * self.width as usize + x as usize);
        for (pixel, ink) in self.pixels[at..at + 3].iter_mut().zip(color) {
            let mixed = f32::from(*pixel) + (f32::from(ink) - f32::from(*pixel)) * share.clamp(0.0, 1.0);
            *pixel = libm::roundf(mixed) as u8;
        }
    }
    /// Fills a rectangle, in whole pixels.
    pub(crate) fn fill(&mut self, (left, top): (f32, f32), (width, height): (f32, f32), color: Color) {
        for y in top as i32..(top + height) as i32 {
            for x in left as i32..(left + width) as i32 {
                self.blend(x, y, color, 1.0);
            }
        }
    }
    /// Writes a line of text, from `x` and its baseline.
    pub(crate) fn text(&mut self, text: &str, (x, baseline): (f32, f32), size: f32, color: Color) {
        let Some(font) = self.font.clone() else { return };
        let scaled = font.as_scaled(PxScale::from(size));
        let (mut at, mut last) = (x, None);
        for char in text.chars() {
            let id = scaled.glyph_id(char);
            at += last.map_or(0.0, |last| scaled.kern(last, id));
            let glyph = id.with_scale_and_position(PxScale::from(size), point(at, baseline));
            if let Some(outline) = font.outline_glyph(glyph) {
                let (left, top) = (outline.px_bounds().min.x as i32, outline.px_bounds().min.y as i32);
                outline.draw(|right, down, share| {
                    self.blend(left + right as i32, top + down as i32, color, share);
                });
            }
            at += scaled.h_advance(id);
            last = Some(id);
        }
    }
    /// Width of a line of text.
    pub(crate) fn width(&self, text: &str, size: f32) -> f32 {
        let Some(font) = &self.font else { return 0.0 };
        let scaled = font.as_scaled(PxScale::from(size));
        text.chars().map(|char| scaled.h_advance(scaled.glyph_id(char))).sum()
    }
    /// Breaks a text into at most `most` lines of this width. What does not fit is left out.
    pub(crate) fn lines(&self, text: &str, size: f32, width: f32, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let extended = lines.last().map(|line| alloc::format!("{line} {word}"));
            match extended.filter(|line| self.width(line, size) <= width) {
                Some(longer) => drop(lines.pop().map(|_| lines.push(longer))),
                None if lines.len() == most => {
                    lines.last_mut().into_iter().for_each(|line| line.push(ELLIPSIS));
                    break;
                }
                None => lines.push(word.into()),
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_words() {
        let canvas = Canvas::new(10, 10, [0; 3]);
        let text = "Your upload makes everything wait: +509 ms when busy.";
        let lines = canvas.lines(text, 48.0, 700.0, 3);
        assert!(lines.len() == 3 && lines.join(" ") == text, "{lines:?}");
        assert!(lines.iter().all(|line| canvas.width(line, 48.0) <= 700.0), "{lines:?}");
        assert_eq!(canvas.lines(text, 48.0, 700.0, 1).len(), 1);
        assert!(canvas.lines(text, 48.0, 700.0, 1)[0].ends_with('…'));
        assert!(canvas.lines("", 48.0, 700.0, 1).is_empty());
    }
    #[test]
    fn what_is_outside_is_left_out() {
        let mut canvas = Canvas::new(20, 20, [255; 3]);
        canvas.text("Wide", (-30.0, 25.0), 60.0, [0; 3]);
        canvas.fill((-5.0, -5.0), (100.0, 8.0), [1, 2, 3]);
        let pixels = canvas.into_pixels();
        assert_eq!((pixels.len(), &pixels[..3]), (1200, &[1, 2, 3][..]));
    }
}
