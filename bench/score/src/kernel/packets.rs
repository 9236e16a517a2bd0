//! Time that each packet waited in the kernel's queues, from captures before and after them.
use super::HOP;
use fathom_capture::{Frame, LinkType, Reader, Step};
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_sim::Wait;
use fathom_units::{Direction, Duration, PerDirection, Time, WallTime};
use std::collections::{HashMap, VecDeque};
use std::path::Path;

/// Length of an Ethernet header, the first byte of IPv4, and the length of its header. Bytes.
const ETHERNET_BYTES: usize = 14;
const IPV4: u8 = 0x45;
const IPV4_BYTES: usize = 20;
/// Where a router, or the queue, changes a packet: the byte with the ECN bits, the hop limit and
/// the checksum.
const CHANGED: [usize; 4] = [1, 8, 10, 11];
const UDP: u8 = 17;
/// IP length of a UDP probe.
const PROBE_BYTES: u32 = 92;
/// The ends of the line.
const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 1, 1];

/// A packet at one side of the queue.
struct Seen {
    at_ns: u64,
    direction: Direction,
    hop_limit: u8,
    ip_bytes: u32,
    is_udp_probe: bool,
    /// The stored bytes, without what a router changes. They identify the packet.
    content: Vec<u8>,
}

impl Seen {
    /// `None` if it is not IPv4 from one end to the other.
    fn of(frame: &Frame<'_>) -> Option<Self> {
        let mut content = frame.bytes.get(ETHERNET_BYTES..)?.to_vec();
        if frame.link != LinkType::ETHERNET || content.len() < IPV4_BYTES || content[0] != IPV4 {
            return None;
        }
        let direction = match (&content[12..16], &content[16..20]) {
            (from, to) if from == CLIENT && to == SERVER => Direction::Up,
            (from, to) if from == SERVER && to == CLIENT => Direction::Down,
            _ => return None,
        };
        let hop_limit = content[8];
        CHANGED.iter().for_each(|place| content[*place] = 0);
        let ip_bytes = u32::from(u16::from_be_bytes([content[2], content[3]]));
        Some(Seen {
            at_ns: u64::try_from(frame.at).ok()?,
            direction,
            hop_limit,
            ip_bytes,
            is_udp_probe: content[9] == UDP && ip_bytes == PROBE_BYTES,
            content,
        })
    }
}

/// Packets of both directions.
#[derive(Default)]
pub(super) struct Packets {
    /// Packets that left the queue, in this order.
    pub(super) waits: PerDirection<Vec<Wait>>,
    /// Arrivals of the packets that were dropped.
    dropped: PerDirection<Vec<Time>>,
}

impl Packets {
    /// Reads the captures in a directory whose names start with `prefix`. Times count from `start`.
    pub(super) fn read(work: &Path, prefix: &str, start: WallTime) -> Result<Self, String> {
        let [client, server] = ["up1", "down1"].map(|device| {
            let file = work.join(format!("{prefix}{device}.pcap"));
            let bytes =
                std::fs::read(&file).map_err(|why| format!("cannot read {}: {why}", file.display()))?;
            packets(&bytes).map_err(|why| format!("{}: {why}", file.display()))
        });
        let sides = PerDirection { up: client?, down: server? };
        let mut both = Packets::default();
        for direction in Direction::BOTH {
            let side = |of: Direction| sides[of].iter().filter(move |seen| seen.direction == direction);
            (both.waits[direction], both.dropped[direction]) =
                pair(side(direction), side(direction.reverse()), start)?;
        }
        Ok(both)
    }
    /// Cumulative drops of a direction.
    pub(super) fn drops(&self, direction: Direction) -> Series {
        let key =
            SeriesKey { scope: Some(HOP.to_owned()), ..SeriesKey::directed(Metric::QueueDrops, direction) };
        let mut series = Series::new(key);
        for (before, at) in self.dropped[direction].iter().enumerate() {
            series.push(Observation { at: *at, value: Value::Observed((before + 1) as f64) });
        }
        series
    }
}

/// All packets of a capture from one end to the other.
fn packets(mut bytes: &[u8]) -> Result<Vec<Seen>, String> {
    let (mut reader, mut found) = (Reader::new(), Vec::new());
    loop {
        let (used, step) = reader.step(bytes).map_err(|why| why.to_string())?;
        match step {
            Step::Frame(frame) => found.extend(Seen::of(&frame)),
            Step::NeedMore(_) if bytes.is_empty() && !found.is_empty() => return Ok(found),
            Step::NeedMore(_) => return Err(format!("the capture is cut after {} packets", found.len())),
            Step::Statistics(_) | Step::Other => {}
        }
        bytes = &bytes[used..];
    }
}

/// Pairs packets before the queue with those behind it: waits and drops.
fn pair<'s>(
    before: impl Iterator<Item = &'s Seen>,
    behind: impl Iterator<Item = &'s Seen>,
    start: WallTime,
) -> Result<(Vec<Wait>, Vec<Time>), String> {
    // Queues drop and reorder packets, so only their content identifies them.
    let mut arrived: HashMap<&[u8], VecDeque<u64>> = HashMap::new();
    let mut until_ns = 0;
    // The router drops packets with a hop limit of 1.
    for seen in before.filter(|seen| seen.hop_limit > 1) {
        arrived.entry(&seen.content).or_default().push_back(seen.at_ns);
        until_ns = seen.at_ns;
    }
    let at = |at_ns: u64| Time::from_nanos(at_ns.saturating_sub(start.0));
    let (mut waits, mut left_bytes, mut last_ns) = (Vec::new(), 0, 0);
    for seen in behind {
        let arrived_ns = arrived.get_mut(seen.content.as_slice()).and_then(VecDeque::pop_front);
        let Some(arrived_ns) = arrived_ns.filter(|arrived_ns| *arrived_ns <= seen.at_ns) else {
            // The capture before the queue ended earlier.
            if seen.at_ns > until_ns {
                break;
            }
            return Err("a packet left the queue and was not captured before it".to_owned());
        };
        last_ns = last_ns.max(arrived_ns);
        left_bytes += u64::from(seen.ip_bytes);
        // The program, and so the time of the run, starts later than the captures.
        if seen.at_ns >= start.0 {
            waits.push(Wait {
                arrived: at(arrived_ns),
                sojourn: Duration::from_nanos(seen.at_ns - arrived_ns.max(start.0)),
                ip_bytes: seen.ip_bytes,
                left_bytes,
                is_udp_probe: seen.is_udp_probe,
            });
        }
    }
    // Packets that arrived later than the last one that left may still have been waiting.
    let lost = arrived.into_values().flatten().filter(|at_ns| *at_ns < last_ns);
    let mut dropped: Vec<Time> = lost.map(at).collect();
    dropped.sort_unstable();
    Ok((waits, dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_ns: u64, number: u8) -> Seen {
        let content = vec![number];
        Seen { at_ns, direction: Direction::Up, hop_limit: 64, ip_bytes: 1500, is_udp_probe: false, content }
    }

    #[test]
    fn waits_and_drops() {
        let before = [seen(100, 1), seen(200, 2), seen(300, 1), seen(400, 3), seen(500, 4)];
        let behind = [seen(150, 1), seen(600, 1), seen(700, 3)];
        let (waits, dropped) =
            pair(before.iter(), behind.iter(), WallTime(50)).expect("each was seen before");
        let found: Vec<[u64; 3]> = waits
            .iter()
            .map(|wait| [wait.arrived.as_nanos(), wait.sojourn.as_nanos(), wait.left_bytes])
            .collect();
        // The fourth may still have been waiting.
        assert_eq!(found, [[50, 50, 1500], [250, 300, 3000], [350, 300, 4500]]);
        assert_eq!(dropped, [Time::from_nanos(150)]);
    }

    #[test]
    fn a_capture_that_was_cut_is_refused() {
        let mut file = fathom_capture::pcap_header(LinkType::ETHERNET).to_vec();
        assert!(packets(&[]).is_err() && packets(&file).is_err());
        let mut frame = vec![0; ETHERNET_BYTES + IPV4_BYTES];
        frame[ETHERNET_BYTES] = IPV4;
        frame[ETHERNET_BYTES + 12..][..4].copy_from_slice(&CLIENT);
        frame[ETHERNET_BYTES + 16..][..4].copy_from_slice(&SERVER);
        file.extend(fathom_capture::pcap_record_header(0, frame.len() as u32, frame.len() as u32));
        file.extend(&frame);
        assert_eq!(packets(&file).expect("it is complete").len(), 1);
        assert!(packets(&file[..file.len() - 1]).is_err());
    }

    #[test]
    fn an_incomplete_capture_is_refused() {
        assert!(pair([seen(100, 1), seen(300, 3)].iter(), [seen(150, 2)].iter(), WallTime(0)).is_err());
        assert!(pair([seen(200, 1)].iter(), [seen(150, 1)].iter(), WallTime(0)).is_err());
        let ended = pair([seen(100, 1)].iter(), [seen(150, 1), seen(200, 2)].iter(), WallTime(0));
        assert_eq!(ended.expect("the rest is unknown").0.len(), 1);
    }
}
