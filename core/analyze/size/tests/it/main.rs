//! The arithmetic of queues against sums done by hand, and against itself turned round.
mod arithmetic;
mod errors;
mod golden;
mod question_bytes;
mod round;
mod sum;
