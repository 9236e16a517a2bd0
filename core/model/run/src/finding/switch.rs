//! Parameters of findings about a switch.
use crate::Spacing;
use serde::{Deserialize, Serialize};

data! {
    /// A port of a switch that receives more than it can send, while its buffer is full.
    struct PortOverload {
        /// Load, relative to the rate of the port.
        load_ratio: f64,
        /// How frames of the load follow each other.
        spacing: Spacing,
        /// Median delay of pings.
        delay_s?: f64,
        /// Share of the frames that were lost.
        loss_ratio: f64,
        /// Share of the pings that were lost.
        ping_loss_ratio: f64,
        /// Time until the buffer was full, if it was.
        fill_s?: f64,
        /// Time until it was empty again.
        drain_s: f64,
    }
    /// A burst at the highest rate of the senders.
    struct LosslessBurst {
        /// Number of ports that sent at once.
        port_count: u32,
        /// Frames of full size, of all senders.
        sent_packets: u64,
        /// Their bytes, with the Ethernet header.
        bytes: f64,
    }
    /// Two ports of a switch whose buffers are filled at the same time.
    struct SharedBuffer {
        /// Buffer space that a port had then, relative to what it has alone.
        left_ratio: f64,
        /// It had less.
        is_shared: bool,
    }
    /// Pings to a port with an empty queue, while another port is overloaded.
    struct HeadOfLineBlocking {
        /// Median delay, above that without load.
        delay_s: f64,
        /// Share of the pings that were lost.
        loss_ratio: f64,
        /// They waited for the other port, or were lost with its frames.
        is_blocked: bool,
    }
    /// Pause frames during the tests.
    struct PauseFrames {
        /// Number that the switch sent, if an interface counts them.
        sent_packets?: u64,
    }
}
