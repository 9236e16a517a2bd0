//! State that is saved across restarts, as text.
use super::Controller;
use super::bounds::Config;
use super::direction::DirectionController;
use super::learned::Hour;
use super::observation::HourOfWeek;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use fathom_units::Direction;

/// First line with the version of the format.
const FIRST: &str = "fathom-autorate 1";

/// Integers up to this are exact in an `f64`, bit/s.
const MOST: u64 = 1 << 53;

/// The text was not saved by a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavedError {
    line: usize,
    expected: &'static str,
}

impl Controller {
    /// Saves what was learned, for [`Controller::restore`]: rates in bit/s, and for each hour of
    /// the week the 20th and 80th percentile of the capacity and the number of samples. Delays are
    /// not saved, because clocks and paths change across a restart.
    ///
    /// ```text
    /// fathom-autorate 1
    /// rate up 8200000
    /// hour up 17 7400000 9100000 212
    /// ```
    pub fn save(&self) -> String {
        let mut text = String::from(FIRST);
        text.push('\n');
        for (direction, state) in self.directions.iter() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "rate {direction} {}", whole(state.rate));
            for (hour, known) in state.learned.iter() {
                let _ = writeln!(
                    text,
                    "hour {direction} {hour} {} {} {}",
                    whole(known.low),
                    whole(known.high),
                    known.count
                );
            }
        }
        text
    }
    /// Creates a controller from saved state, within its own limits.
    ///
    /// # Errors
    /// The first invalid line, and what was expected.
    pub fn restore(config: Config, text: &str) -> Result<Self, SavedError> {
        let mut controller = Controller::new(config);
        let mut lines = (1..).zip(text.lines());
        if lines.next().is_none_or(|(_, first)| first != FIRST) {
            return Err(SavedError { line: 1, expected: "\"fathom-autorate 1\"" });
        }
        for (line, text_of_line) in lines.filter(|(_, one)| !one.is_empty()) {
            read(&mut controller, text_of_line).map_err(|expected| SavedError { line, expected })?;
        }
        Ok(controller)
    }
}

/// Rounds to an integer, which can be restored exactly.
fn whole(rate: f64) -> u64 {
    ((rate + 0.5) as u64).clamp(1, MOST)
}

fn read(controller: &mut Controller, line: &str) -> Result<(), &'static str> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["rate", direction, rate] => {
            let rate = number(rate)?;
            controller_of(controller, direction)?.resume(rate);
        }
        ["hour", direction, hour, low, high, count] => {
            let hour = hour.parse().ok().filter(|hour| *hour < 168).ok_or("an hour of the week, 0 to 167")?;
            let known = Hour {
                low: number(low)?,
                high: number(high)?,
                count: count.parse().or(Err("a number of samples"))?,
            };
            if known.low > known.high {
                return Err("the lower capacity before the higher one");
            }
            controller_of(controller, direction)?.learned.set(HourOfWeek::new(hour), known);
        }
        _ => return Err("\"rate DIRECTION BITS\" or \"hour DIRECTION HOUR LOW HIGH COUNT\""),
    }
    Ok(())
}

fn controller_of<'a>(
    controller: &'a mut Controller,
    direction: &str,
) -> Result<&'a mut DirectionController, &'static str> {
    let direction: Direction = direction.parse().or(Err("\"up\" or \"down\""))?;
    Ok(&mut controller.directions[direction])
}

fn number(text: &str) -> Result<f64, &'static str> {
    let whole: u64 = text.parse().or(Err("a rate in bit/s as an integer"))?;
    Some(whole).filter(|n| (1..=MOST).contains(n)).map(|n| n as f64).ok_or("a rate in bit/s, from 1 to 2^53")
}

impl fmt::Display for SavedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}", self.line, self.expected)
    }
}

impl core::error::Error for SavedError {}
