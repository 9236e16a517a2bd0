//! QR codes.
use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules around a code (ISO/IEC 18004, section 5.3.8, has 4; phones need 2).
const MARGIN: i32 = 2;
/// Black on white, whatever the colors of the terminal are.
const BLACK_ON_WHITE: &str = "\x1b[38;5;16;48;5;231m";
const RESET: &str = "\x1b[0m";

/// The code of a text in lines of half blocks, with colors; `None` if the text is too long.
pub(crate) fn qr(text: &str) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    let range = -MARGIN..code.size() + MARGIN;
    let line = |y: i32| {
        let halves = range.clone().map(|x| match (code.get_module(x, y), code.get_module(x, y + 1)) {
            (false, false) => ' ',
            (true, false) => '\u{2580}',
            (false, true) => '\u{2584}',
            (true, true) => '\u{2588}',
        });
        format!("{BLACK_ON_WHITE}{}{RESET}", halves.collect::<String>())
    };
    Some(range.clone().step_by(2).map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_corners() {
        let code = qr("http://192.0.2.1:3279/").expect("short");
        let lines: Vec<&str> = code.lines().collect();
        // 25 modules and two margins, two rows a line.
        assert_eq!(lines.len(), 15);
        let of = |line: usize| lines[line].trim_start_matches(BLACK_ON_WHITE).trim_end_matches(RESET);
        assert!(lines.iter().enumerate().all(|(n, _)| of(n).chars().count() == 29));
        assert!(of(0).trim().is_empty());
        // The upper edge of two finder patterns (ISO/IEC 18004, section 5.3.2).
        let edge: String = of(1).chars().filter(|c| *c == '\u{2588}' || *c == '\u{2580}').collect();
        assert!(edge.chars().count() >= 14, "{edge}");
        assert!(qr(&"x".repeat(5_000)).is_none());
    }
}
