//! Queries the driver of a network interface with ethtool's ioctl commands.
use std::io;
use std::os::fd::AsRawFd;

/// Source: linux/ethtool.h, `ETHTOOL_*`.
mod command {
    pub(super) const SETTINGS: u32 = 0x01;
    pub(super) const STATISTICS: u32 = 0x1d;
    pub(super) const COALESCE: u32 = 0x0e;
    pub(super) const RING: u32 = 0x10;
    pub(super) const TSO: u32 = 0x1e;
    pub(super) const GSO: u32 = 0x23;
    pub(super) const GRO: u32 = 0x2b;
    pub(super) const STRINGS: u32 = 0x1b;
    pub(super) const STRING_COUNT: u32 = 0x37;
    pub(super) const FEATURES: u32 = 0x3a;
}

/// Words of `struct ethtool_coalesce` after its command; the structures of rings and features are
/// shorter.
const WORDS: usize = 23;

/// `SIOCETHTOOL` of linux/sockios.h. Defined here because the type of an ioctl request differs
/// between C libraries.
const SIOCETHTOOL: u32 = 0x8946;

/// Settings of a driver; `None` for those that it does not support.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Card {
    /// Size of the transmit ring in packets.
    pub ring_tx: Option<u32>,
    /// Maximum size of the transmit ring.
    pub ring_tx_max: Option<u32>,
    /// Transmit interrupt coalescing delay, in microseconds.
    pub tx_usecs: Option<u32>,
    /// TCP segmentation offload.
    pub tso: Option<bool>,
    /// Generic segmentation offload.
    pub gso: Option<bool>,
    /// Generic receive offload.
    pub gro: Option<bool>,
    /// Traffic control filters are offloaded to the card.
    pub hw_tc_offload: Option<bool>,
}

/// Queries the driver of the interface `name` in the network namespace of the calling thread.
///
/// # Errors
/// If no socket can be opened, or if the name is too long.
pub fn card(name: &str) -> io::Result<Card> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "interface names have at most 15 bytes"));
    }
    let ask = |command| answer(&socket, name, command);
    let ring = ask(command::RING);
    let switch = |command| ask(command).map(|words| words[1] != 0);
    Ok(Card {
        // After the command: the maxima of receive, mini, jumbo and transmit, then the current
        // values.
        ring_tx: ring.map(|words| words[8]).filter(|packets| *packets > 0),
        ring_tx_max: ring.map(|words| words[4]).filter(|packets| *packets > 0),
        tx_usecs: ask(command::COALESCE).map(|words| words[5]),
        tso: switch(command::TSO),
        gso: switch(command::GSO),
        gro: switch(command::GRO),
        hw_tc_offload: feature(&socket, name, "hw-tc-offload"),
    })
}

/// Rate of the link in Mbit/s, by the interface's driver; `None` if it is unknown.
#[must_use]
pub fn speed_mbit(name: &str) -> Option<u32> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).ok()?;
    let words = answer(&socket, name, command::SETTINGS)?;
    // struct ethtool_cmd: after the command and two masks, the low half of the speed; the high half
    // is 28 bytes in.
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let half = |at: usize| u32::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]));
    Some(half(28) << 16 | half(12)).filter(|mbit| (1..u32::MAX).contains(mbit) && *mbit != 0xffff)
}

/// Names and values of the statistics that the driver counts; empty if it counts none.
#[must_use]
pub fn statistics(name: &str) -> Vec<(String, u64)> {
    let Ok(socket) = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None) else {
        return Vec::new();
    };
    let Some((count, names)) = strings(&socket, name, STATISTIC_NAMES) else { return Vec::new() };
    let mut values = vec![0; 2 + 2 * count as usize];
    values[..2].copy_from_slice(&[command::STATISTICS, count]);
    if !ask(&socket, name, &mut values) {
        return Vec::new();
    }
    let value = |pair: &[u32]| {
        let bytes: Vec<u8> = pair.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    };
    names.into_iter().zip(values[2..].chunks(2).map(value)).collect()
}

/// A string set of the driver and its size; `None` if it has none.
fn strings(socket: &socket2::Socket, name: &str, set: u32) -> Option<(u32, Vec<String>)> {
    // Command, a reserved word, the mask of sets in two words, then a count per set.
    let mut counts = [command::STRING_COUNT, 0, 1 << set, 0, 0];
    if cfg!(target_endian = "big") {
        counts.swap(2, 3);
    }
    let count = ask(socket, name, &mut counts)
        .then_some(counts[4])
        .filter(|count| (1..=MAX_STRINGS).contains(count))?;
    let mut names = vec![0; 3 + count as usize * NAME_WORDS];
    names[..3].copy_from_slice(&[command::STRINGS, set, count]);
    ask(socket, name, &mut names).then(|| (count, names[3..].chunks(NAME_WORDS).map(text).collect()))
}

/// The structure that the driver filled in; `None` if it does not support the command.
fn answer(socket: &socket2::Socket, name: &str, command: u32) -> Option<[u32; WORDS]> {
    let mut words = [0_u32; WORDS];
    words[0] = command;
    ask(socket, name, &mut words).then_some(words)
}

/// The string sets of the names of statistics and features: `ETH_SS_STATS`, `ETH_SS_FEATURES`.
const STATISTIC_NAMES: u32 = 1;
const FEATURE_NAMES: u32 = 4;

/// Words per name: `ETH_GSTRING_LEN` is 32 bytes.
const NAME_WORDS: usize = 8;

/// Upper limit of features and statistics; current kernels have about sixty features, and drivers
/// some hundred statistics for each queue.
const MAX_STRINGS: u32 = 16_384;

/// Whether the feature is active; `None` if the kernel does not know it.
fn feature(socket: &socket2::Socket, name: &str, wanted: &str) -> Option<bool> {
    let (count, names) = strings(socket, name, FEATURE_NAMES)?;
    let at = names.iter().position(|one| one == wanted)?;
    // Four words per 32 features: available, requested, active, never changed.
    let blocks = count.div_ceil(32);
    let mut states = vec![0; 2 + blocks as usize * 4];
    states[..2].copy_from_slice(&[command::FEATURES, blocks]);
    ask(socket, name, &mut states).then(|| states[2 + at / 32 * 4 + 2] >> (at % 32) & 1 != 0)
}

/// A name, up to its first zero byte.
fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

/// Sends `words`, which start with a command, to the driver, which fills in the rest; false if it
/// refuses.
///
/// The kernel writes the whole structure of the command: `words` must not be shorter.
fn ask(socket: &socket2::Socket, name: &str, words: &mut [u32]) -> bool {
    // SAFETY: all zeros is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the kernel reads and writes at most the structure of the command, and every caller
    // provides that space. For lists of names or states, the kernel respects the length in the
    // header.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    result == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_no_ring_and_segments_late() {
        let told = card("lo").unwrap();
        assert_eq!((told.ring_tx, told.gso, told.hw_tc_offload), (None, Some(true), Some(false)));
    }

    /// The same switch, read by its old command and by its feature name.
    #[test]
    fn features_are_found_by_name() {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap();
        assert_eq!(feature(&socket, "lo", "tx-generic-segmentation"), card("lo").unwrap().gso);
        assert_eq!(feature(&socket, "lo", "rx-gro"), card("lo").unwrap().gro);
        assert_eq!(feature(&socket, "lo", "no-such-feature"), None);
    }

    #[test]
    fn what_is_no_interface_tells_nothing() {
        assert_eq!(card("no-such").unwrap(), Card::default());
        assert!(card("a-name-of-16-byte").is_err());
    }
}
