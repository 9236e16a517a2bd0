//! A scenario's workloads over real sockets: what the simulator's units do in virtual time, between the two ends of a lab.
//!
//! ```text
//!  user's side                                           far side
//!  conductor - a thread each unit that opens here        conductor - a thread each unit that opens here
//!  acceptor  - a thread each connection from over there  acceptor  - a thread each connection from over there
//!  receiver of datagrams                                 receiver of datagrams
//! ```
//! Both ends are in this process, so they have one clock, and nothing but the workloads' own bytes is sent: what an end is to do
//! with a connection it is told here, by the port of the other end. Each unit's life ends at a known time, or with the
//! player; its sockets are then reset, and its threads end.

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
