//! The formats, from events written by hand, and against their grammars on what no one would write.
mod flows;
mod golden;
mod grammar;
mod hostile;
mod stream;
