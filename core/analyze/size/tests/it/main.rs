//! Buffer arithmetic compared with calculations by hand, and with its own inverse.
mod arithmetic;
mod errors;
mod golden;
mod question_bytes;
mod round;
mod sum;
