//! Tests of a switch: frames from some of its ports to others.
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What the tests of a switch recorded, in addition to series and bursts. Terms are those of
/// RFC 2544, RFC 2889 and RFC 8239.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Switch {
    /// The ports, by number.
    pub ports: Vec<SwitchPort>,
    /// Load of the overloaded port, relative to its rate.
    pub load_ratio: f64,
    /// How frames of an overload follow each other.
    pub spacing: Spacing,
    /// The tests, in time order.
    pub tests: Vec<PortTest>,
}

/// An interface of this host that is connected to a port of the switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SwitchPort {
    /// Name of the interface.
    pub name: String,
    /// Pause frames (IEEE 802.3 annex 31B) during the tests; absent if the driver does not count
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseCounts>,
}

/// Pause frames of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct PauseCounts {
    /// Received from the switch, which asked this host to stop.
    pub received_packets: u64,
    /// Sent to the switch.
    pub sent_packets: u64,
}

/// How frames follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// At equal intervals.
    Even,
    /// At random: the intervals have an exponential distribution.
    Random,
}

/// A test of a switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PortTest {
    /// What was sent.
    pub kind: PortTestKind,
    /// Time from the start of the load to its first lost frame; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill_s: Option<f64>,
    /// Frames of the load that were lost before the buffer was full.
    #[serde(default)]
    pub early_packets: u64,
    /// Time from the end of the load until its last frame arrived.
    pub drain_s: f64,
    /// What was sent from port to port.
    pub streams: Vec<PortStream>,
}

/// What a test of a switch sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortTestKind {
    /// Only pings.
    Idle,
    /// More than one port can send, for seconds.
    Overload,
    /// An overload with frames of a third of the full size.
    SmallFrames,
    /// A burst that fills the buffer of one port.
    FullBurst,
    /// The largest burst that passed without loss, from one port.
    Microburst,
    /// Likewise, from all ports at once.
    Incast,
    /// Bursts that fill the buffers of two ports at the same time.
    SharedBuffer,
    /// An overload of one port, with pings through another.
    HeadOfLine,
}

/// Frames of one size from port to port, while the buffer was full if it was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PortStream {
    /// Number of the sending port, from 0.
    pub from: u32,
    /// Number of the receiving port.
    pub to: u32,
    /// Pings, rather than load.
    pub is_ping: bool,
    /// Size of an Ethernet frame, without its checksum.
    pub frame_bytes: u32,
    /// Number of frames sent.
    pub sent_packets: u64,
    /// Number of frames lost.
    pub lost_packets: u64,
    /// Median one-way delay; absent if nothing arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_p50_s: Option<f64>,
    /// 98th percentile of the one-way delay: the longest, without what the host added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_p98_s: Option<f64>,
}

impl PortStream {
    /// Share of the frames that were lost.
    #[must_use]
    pub fn loss_ratio(&self) -> f64 {
        self.lost_packets as f64 / self.sent_packets.max(1) as f64
    }
}

impl Switch {
    /// The test of a kind.
    #[must_use]
    pub fn test(&self, kind: PortTestKind) -> Option<&PortTest> {
        self.tests.iter().find(|test| test.kind == kind)
    }
}

impl PortTest {
    /// The load, or the pings, to a port.
    #[must_use]
    pub fn stream(&self, to: u32, is_ping: bool) -> Option<&PortStream> {
        self.streams.iter().find(|stream| stream.to == to && stream.is_ping == is_ping)
    }
}
