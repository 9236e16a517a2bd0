//! Results of `fathom ecn`: the screen of one path, and a survey of many hosts as a screen, a page,
//! a table, and in PATHspider's format.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod csv;
mod page;
mod pathspider;
mod record;
mod screen;
mod survey;
mod survey_screen;
mod words;

pub use csv::csv;
pub use page::page;
pub use pathspider::pathspider;
pub use record::{Outcome, Problem, Record};
pub use screen::{ecn, ecn_headline};
pub use survey::{Network, Survey};
pub use survey_screen::{survey_headline, survey_screen};
