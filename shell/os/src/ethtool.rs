//! What the driver of a network interface answers to ethtool's oldest questions.
use std::io;
use std::os::fd::AsRawFd;

/// Source: linux/ethtool.h, `ETHTOOL_*`.
mod command {
    pub(super) const COALESCE: u32 = 0x0e;
    pub(super) const RING: u32 = 0x10;
    pub(super) const TSO: u32 = 0x1e;
    pub(super) const GSO: u32 = 0x23;
    pub(super) const GRO: u32 = 0x2b;
}

/// Words of `struct ethtool_coalesce` behind its command; the ring's and a feature's are fewer.
const WORDS: usize = 23;

/// The request of linux/sockios.h, `SIOCETHTOOL`, as the type that ioctl wants differs between C libraries.
const SIOCETHTOOL: u32 = 0x8946;

/// What a driver tells; what it does not support is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Card {
    /// Packets of the transmit ring.
    pub ring_tx: Option<u32>,
    /// The most that it may be set to.
    pub ring_tx_max: Option<u32>,
    /// Microseconds that a transmit interrupt waits.
    pub tx_usecs: Option<u32>,
    /// TCP segmentation by the card.
    pub tso: Option<bool>,
    /// Segmentation just before the card.
    pub gso: Option<bool>,
    /// Joining of packets that arrive.
    pub gro: Option<bool>,
}

/// Asks the driver of the interface `name`, in the network namespace of the calling thread.
///
/// # Errors
/// If no socket can be opened, or the name is longer than an interface's.
pub fn card(name: &str) -> io::Result<Card> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an interface's name has at most 15 bytes"));
    }
    let ask = |command| answer(&socket, name, command);
    let ring = ask(command::RING);
    let switch = |command| ask(command).map(|words| words[1] != 0);
    Ok(Card {
        // Behind the command: the most of receive, mini, jumbo and transmit, then the same as set.
        ring_tx: ring.map(|words| words[8]).filter(|packets| *packets > 0),
        ring_tx_max: ring.map(|words| words[4]).filter(|packets| *packets > 0),
        tx_usecs: ask(command::COALESCE).map(|words| words[5]),
        tso: switch(command::TSO),
        gso: switch(command::GSO),
        gro: switch(command::GRO),
    })
}

/// The command and what the driver wrote behind it; none if it does not know the command.
fn answer(socket: &socket2::Socket, name: &str, command: u32) -> Option<[u32; WORDS]> {
    let mut words = [0_u32; WORDS];
    words[0] = command;
    // SAFETY: all zeros is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the kernel reads and writes at most the structure of the command, of which `words` holds the longest.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    (result == 0).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_no_ring_and_segments_late() {
        let told = card("lo").unwrap();
        assert_eq!((told.ring_tx, told.gso), (None, Some(true)));
    }

    #[test]
    fn what_is_no_interface_tells_nothing() {
        assert_eq!(card("no-such").unwrap(), Card::default());
        assert!(card("a-name-of-16-byte").is_err());
    }
}
