//! Safe wrappers of Linux calls

pub mod clock;
pub mod netns;
pub mod poll;
pub mod process;
