//! Hostile directories, shells of other hosts, replies of this kernel.
mod hostile;
mod kernel;
mod other_host;
mod scratch;
