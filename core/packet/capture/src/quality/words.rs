//! Defects in sentences.
use super::{Quality, Steps};
use crate::LinkType;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl Quality {
    /// What is wrong, a sentence each, with what it means or what to do; none if nothing is.
    pub fn defects(&self) -> Vec<String> {
        let all = [
            self.emptiness_words(),
            self.lost_words(),
            self.header_words(),
            self.clock_words(),
            self.leap_words(),
            self.resolution_words(),
            self.gap_words(),
            self.super_packet_words(),
            self.duplicate_words(),
            self.encrypted_words(),
            self.link_words(),
            self.untimed_words(),
        ];
        all.into_iter().flatten().collect()
    }
    fn emptiness_words(&self) -> Option<String> {
        let unreadable = self.encrypted + self.cut_headers + self.unknown_link.map_or(0, |(_, count)| count);
        match self.frames {
            0 => Some(String::from("It holds no frame: nothing passed, or a filter let nothing through.")),
            n if self.not_ip == n && unreadable == 0 => {
                Some(format!("No IP is in any of its frames ({n}): was it captured on the right interface?"))
            }
            _ => None,
        }
    }
    fn lost_words(&self) -> Option<String> {
        let (lost, frames) = (self.lost, self.frames);
        (lost > 0).then(|| {
            format!(
                "The capturing system dropped {lost} frames beside the {frames} that it kept: some losses seen here are its own; \
                 capture with a larger buffer (tcpdump -B) or a smaller snapshot length (-s 128)."
            )
        })
    }
    fn header_words(&self) -> Option<String> {
        let (count, at, are) = (self.cut_headers, self.cut_at, are(self.cut_headers));
        (count > 0).then(|| {
            format!(
                "{count} {are} cut within their headers, after at most {at} bytes: their timestamps or more are missing; \
                 capture with a snapshot length of 128 or more."
            )
        })
    }
    fn clock_words(&self) -> Option<String> {
        let Steps { count, largest_ns, frame } = self.steps_back;
        (count > 0).then(|| {
            let most = ns_words(largest_ns);
            format!("The clock steps back {}, most by {most} (frame {frame}): delays across such a place are wrong.", times(count))
        })
    }
    fn leap_words(&self) -> Option<String> {
        let Steps { count, largest_ns, frame } = self.leaps;
        let years = largest_ns as f64 / YEAR_NS;
        (count > 0).then(|| {
            format!(
                "The clock was set {} by more than a year, most by {years:.1} years (frame {frame}): times are told as if it had gone on.",
                times(count)
            )
        })
    }
    fn gap_words(&self) -> Option<String> {
        let Steps { count, largest_ns, frame } = self.gaps;
        (count > 0).then(|| {
            let most = ns_words(largest_ns);
            format!(
                "Nothing was captured {} for more than a minute, longest for {most} (before frame {frame}): \
                 the line was silent, the capture paused, or the clock set.",
                times(count)
            )
        })
    }
    fn resolution_words(&self) -> Option<String> {
        let ns = self.true_resolution_ns();
        (ns > 1000).then(|| {
            let unit = ns_words(ns);
            format!("The capture's clock counts in steps of {unit}: no delay is known better than that.")
        })
    }
    fn super_packet_words(&self) -> Option<String> {
        let (count, longest) = (self.super_packets, self.longest_bytes);
        (count > 0).then(|| {
            format!(
                "{count} packets are longer than the path allows (up to {longest} bytes): they were captured before the network \
                 card split them or after it joined them, and stand for several; ethtool -K IFACE tso off gso off gro off avoids it."
            )
        })
    }
    fn duplicate_words(&self) -> Option<String> {
        let count = match self.found_copies {
            0 if !self.has_duplicates() => return None,
            0 => format!("About {} packets are", self.duplicates()),
            1 => String::from("1 packet is"),
            n => format!("{n} packets are"),
        };
        Some(format!(
            "{count} there more than once, as captured on several interfaces of one path or by a mirror port: each counts once, as it was \
             seen first."
        ))
    }
    fn encrypted_words(&self) -> Option<String> {
        let (count, are) = (self.encrypted, are(self.encrypted));
        (count > 0).then(|| {
            format!("{count} {are} encrypted by 802.11: capture on the host or on the wired side instead.")
        })
    }
    fn link_words(&self) -> Option<String> {
        let (LinkType(number), count) = self.unknown_link?;
        let are = are(count);
        Some(format!("{count} {are} of a link type that is not known ({number}) and passed over."))
    }
    fn untimed_words(&self) -> Option<String> {
        let (count, are) = (self.untimed, are(self.untimed));
        (count > 0).then(|| format!("{count} {are} without a time: that of the frame before stands for it."))
    }
}

fn times(count: u64) -> String {
    if count == 1 { String::from("once") } else { format!("{count} times") }
}

const YEAR_NS: f64 = 365.25 * 86_400e9;

const fn are(frames: u64) -> &'static str {
    if frames == 1 { "frame is" } else { "frames are" }
}

/// Two or three digits of a time, in the unit that suits it.
fn ns_words(ns: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];
    let fits = UNITS.into_iter().find(|(unit, _)| ns >= *unit);
    let (unit, name) = fits.unwrap_or((1, "ns"));
    let (whole, tenth) = (ns / unit, ns % unit * 10 / unit);
    if whole >= 10 || tenth == 0 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}
