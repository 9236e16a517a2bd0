//! Timing of 802.11 transmissions.
use fathom_units::{Bytes, Duration, Rate};

/// aSIFSTime of OFDM with 20 MHz channels, table 17-21; the same for HT and VHT at 5 GHz.
pub(super) const SIFS: Duration = Duration::from_micros(16);
/// aSlotTime, same table.
pub(super) const SLOT: Duration = Duration::from_micros(9);
/// SIFS and two slots, 10.3.2.3.
pub(super) const DIFS: Duration = Duration::from_micros(34);
/// HT-mixed format with two streams, table 19-11 and figure 19-1: L-STF 8, L-LTF 8, L-SIG 4, HT-SIG
/// 8, HT-STF 4 and two HT-LTF of 4 us. VHT with one stream takes the same time.
const PREAMBLE: Duration = Duration::from_micros(40);
/// With the long guard interval.
const SYMBOL_NANOS: u64 = 4_000;
/// SERVICE 16 and tail 6, tables 17-6 and 19-13.
const SERVICE_AND_TAIL_BITS: u64 = 22;
/// A compressed BlockAck has 32 bytes: 278 bits with those 22, three symbols of 96 bits at the
/// basic rate of 24 Mbit/s, after the 20 us preamble of OFDM.
const BLOCK_ACK: Duration = Duration::from_micros(32);
/// An Ack has 14 bytes: 134 bits, two symbols, after 20 us.
const ACK: Duration = Duration::from_micros(28);
/// MAC header with QoS control 26, LLC and SNAP 8, checksum 4.
const MPDU_HEADERS: u64 = 38;
const DELIMITER: u64 = 4;
/// Subframes are padded to multiples of this.
const ALIGNMENT: u64 = 4;

/// Preamble and data of packets of `lens` (IP) in one PPDU at the rate `phy`; an A-MPDU if several.
pub fn airtime(lens: impl IntoIterator<Item = Bytes>, phy: Rate) -> Duration {
    let (count, plain, subframes) = lens
        .into_iter()
        .fold((0_u64, 0, 0), |(count, plain, sum), len| (count + 1, plain + mpdu(len), sum + subframe(len)));
    of_psdu(if count == 1 { plain } else { subframes }, phy)
}

/// [`airtime`] until the medium is idle again: with SIFS and the acknowledgment or its timeout.
pub fn exchange(lens: impl IntoIterator<Item = Bytes>, phy: Rate) -> Duration {
    let mut count = 0_u32;
    let data = airtime(lens.into_iter().inspect(|_| count += 1), phy);
    data + SIFS + if count == 1 { ACK } else { BLOCK_ACK }
}

/// Bytes that a packet adds to an A-MPDU.
pub(super) const fn subframe(len: Bytes) -> u64 {
    (DELIMITER + mpdu(len)).next_multiple_of(ALIGNMENT)
}

const fn mpdu(len: Bytes) -> u64 {
    len.get() + MPDU_HEADERS
}

pub(super) fn of_psdu(bytes: u64, phy: Rate) -> Duration {
    let bits = u128::from(bytes * 8 + SERVICE_AND_TAIL_BITS);
    let bits_in_a_second = u128::from(phy.as_bits_per_second().max(1));
    let symbols = (bits * 1_000_000_000).div_ceil(bits_in_a_second * u128::from(SYMBOL_NANOS));
    PREAMBLE + Duration::from_nanos(SYMBOL_NANOS) * u64::try_from(symbols).unwrap_or(u64::MAX)
}
