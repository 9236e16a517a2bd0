//! Hostile folders, other hosts' shells, this kernel's replies.
mod hostile;
mod kernel;
mod other_host;
mod scratch;
