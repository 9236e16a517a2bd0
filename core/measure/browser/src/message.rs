//! Probes and their echoes. All numbers are big-endian.
use fathom_run::PhaseKind;

/// Version of the messages. A page is loaded from the server that it tests, so both have the same.
const VERSION: u8 = 1;

/// Length of a probe.
pub const PROBE_BYTES: usize = 32;
/// Length of an echo.
pub const ECHO_BYTES: usize = 48;

/// What a page has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Nothing: the next phase has not started.
    Between,
    /// The load of this phase.
    Phase(PhaseKind),
    /// Nothing, as long as the page is in the background.
    Paused,
    /// The test is over.
    Over,
}

impl Stage {
    /// Its number in a probe.
    const fn code(self) -> u8 {
        match self {
            Stage::Between => 0,
            Stage::Phase(PhaseKind::Idle | PhaseKind::Watch) => 1,
            Stage::Phase(PhaseKind::Down) => 2,
            Stage::Phase(PhaseKind::Up) => 3,
            Stage::Phase(PhaseKind::Both) => 4,
            Stage::Phase(PhaseKind::Drain) => 5,
            Stage::Over => 6,
            Stage::Paused => 7,
        }
    }
}

/// A probe, from the server to the page. It repeats the state of the test, so that a lost one does
/// no harm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Its number.
    pub sequence: u32,
    /// What to do.
    pub stage: Stage,
    /// Number of phases that have started.
    pub phase: u16,
    /// Time since the start of the test, in ms.
    pub elapsed_ms: u32,
    /// When the latest answered probe was sent, as `elapsed_ms`.
    pub answered_ms: u32,
    /// Its delay in microseconds; 0 if none was answered.
    pub delay_us: u32,
    /// Recent rate of the download and of the upload, in kbit/s.
    pub down_kbit_per_second: u32,
    /// See above.
    pub up_kbit_per_second: u32,
    /// Bytes of load so far, in kB.
    pub moved_kilobytes: u32,
}

impl Probe {
    /// The message.
    pub fn encode(&self) -> [u8; PROBE_BYTES] {
        let mut bytes = [0; PROBE_BYTES];
        (bytes[0], bytes[1]) = (VERSION, self.stage.code());
        bytes[2..4].copy_from_slice(&self.phase.to_be_bytes());
        let numbers = [
            self.sequence,
            self.elapsed_ms,
            self.answered_ms,
            self.delay_us,
            self.down_kbit_per_second,
            self.up_kbit_per_second,
            self.moved_kilobytes,
        ];
        for (place, number) in bytes[4..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }
}

/// The answer of the page to a probe. Its times are in microseconds on the clock of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// Number of the probe.
    pub sequence: u32,
    /// Probes that the page has received, including this one.
    pub received: u32,
    /// When it received the probe.
    pub received_us: u64,
    /// When it sent this answer.
    pub sent_us: u64,
    /// Bytes of downloads that the page has read.
    pub down_bytes: u64,
    /// When it counted them.
    pub counted_us: u64,
    /// How late the timers of the page were at most, since the answer before.
    pub late_us: u32,
    /// Whether the page is in the background, where browsers slow its timers and transfers.
    pub is_hidden: bool,
}

impl Echo {
    /// Reads a message; `None` if it is none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; ECHO_BYTES] = bytes.try_into().ok()?;
        let short = |at: usize| {
            let part = bytes[at..at + 4].try_into().ok()?;
            Some(u32::from_be_bytes(part))
        };
        let long = |at: usize| {
            let part = bytes[at..at + 8].try_into().ok()?;
            Some(u64::from_be_bytes(part))
        };
        if bytes[0] != VERSION || bytes[1] > 1 || bytes[2..4] != [0; 2] {
            return None;
        }
        Some(Echo {
            sequence: short(4)?,
            received: short(8)?,
            late_us: short(12)?,
            received_us: long(16)?,
            sent_us: long(24)?,
            down_bytes: long(32)?,
            counted_us: long(40)?,
            is_hidden: bytes[1] == 1,
        })
    }
    /// The message, as the page writes it.
    pub fn encode(&self) -> [u8; ECHO_BYTES] {
        let mut bytes = [0; ECHO_BYTES];
        (bytes[0], bytes[1]) = (VERSION, self.is_hidden.into());
        for (at, number) in [(4, self.sequence), (8, self.received), (12, self.late_us)] {
            bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        }
        let long = [(16, self.received_us), (24, self.sent_us), (32, self.down_bytes), (40, self.counted_us)];
        for (at, number) in long {
            bytes[at..at + 8].copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    #[test]
    fn an_echo_comes_back_and_nothing_else_is_one() {
        let echo = Echo {
            sequence: 1,
            received: 2,
            received_us: 3 << 40,
            sent_us: 4,
            down_bytes: 5 << 40,
            counted_us: 6,
            late_us: 7,
            is_hidden: true,
        };
        let bytes = echo.encode();
        assert_eq!(Echo::decode(&bytes), Some(echo));
        assert_eq!(Echo::decode(&bytes[..ECHO_BYTES - 1]), None);
        assert_eq!(Echo::decode(&[&bytes[..], &[0]].concat()), None);
        for (at, wrong) in [(0, 2), (1, 2), (2, 1), (3, 1)] {
            let mut other = bytes;
            other[at] = wrong;
            assert_eq!(Echo::decode(&other), None, "byte {at}");
        }
        let mut rng = Rng::new(1);
        for _ in 0..10_000 {
            let length = (rng.next_u64() % 80) as usize;
            let random: alloc::vec::Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
            let _ = Echo::decode(&random);
        }
    }

    #[test]
    fn a_probe_has_its_numbers_in_place() {
        let probe = Probe {
            sequence: 0x0102_0304,
            stage: Stage::Phase(PhaseKind::Up),
            phase: 2,
            elapsed_ms: 5,
            answered_ms: 6,
            delay_us: 7,
            down_kbit_per_second: 8,
            up_kbit_per_second: 9,
            moved_kilobytes: 10,
        };
        let bytes = probe.encode();
        assert_eq!(bytes[..8], [1, 3, 0, 2, 1, 2, 3, 4]);
        assert_eq!(
            bytes[8..].iter().copied().filter(|b| *b > 0).collect::<alloc::vec::Vec<_>>(),
            [5, 6, 7, 8, 9, 10]
        );
    }
}
