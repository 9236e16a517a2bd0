//! Runs a scenario's workloads over real sockets between the two ends of a lab, like the
//! simulator's units in virtual time.
//!
//! ```text
//!  client side                                     server side
//!  conductor: a thread per unit that opens here    conductor: a thread per unit that opens here
//!  acceptor: a thread per connection from there    acceptor: a thread per connection from there
//!  receiver of datagrams                           receiver of datagrams
//! ```
//! Both ends are in this process, so they share a clock, and only the workloads' own bytes are
//! sent: an end learns inside the process what to do with a connection, by the port of the other
//! end. Each unit's lifetime ends at a known time, or with the player; its sockets are then reset,
//! and its threads end.

mod active_unit;
mod datagrams;
mod life;
mod player;
mod refusal;
mod senders;
mod stage;
#[cfg(test)]
mod tests;
mod unit;
mod wire;

pub use player::{Played, Player};
pub use refusal::{MAX_CONNECTIONS, refusal};
