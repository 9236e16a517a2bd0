//! The line that a run shows, in numbers: what a simulation of it needs.
use crate::Health;
use crate::delivery::capacity;
use crate::health::judge;
use crate::rules::bound::still_growing;
use crate::rules::buffer::buffer;
use crate::view::View;
use alloc::string::{String, ToString};
use fathom_run::Run;
use fathom_units::Direction;

/// A path as one bottleneck a direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LineEstimate {
    /// Median round trip without load, in seconds.
    pub idle_rtt_s: f64,
    /// From the user; `None` if that direction was not loaded.
    pub up: Option<SideEstimate>,
    /// To the user.
    pub down: Option<SideEstimate>,
}

/// One direction's bottleneck.
#[derive(Clone, PartialEq, Debug)]
pub struct SideEstimate {
    /// Bits of IP packets per second.
    pub bits_per_second: f64,
    /// Bytes of IP packets that the queue held at its fullest; `None` if it never rose.
    pub buffer_bytes: Option<f64>,
    /// The queue still grew when the phase ended: the buffer is larger.
    pub is_lower_bound: bool,
    /// Flows that filled it.
    pub flows: u32,
    /// Their congestion control.
    pub congestion_control: String,
    /// How long they did, in seconds.
    pub seconds: f64,
}

/// The line that `run` shows.
///
/// # Errors
/// Why it shows none: no idle latency, no load, or a measurement that does not count.
pub fn estimate_line(run: &Run) -> Result<LineEstimate, String> {
    let view = View::new(run);
    if judge(&view).health == Health::Invalid {
        return Err("the measurement does not count".to_string());
    }
    let idle = view.idle().ok_or("latency without load was not measured")?;
    let side = |direction| side(&view, direction);
    let estimate =
        LineEstimate { idle_rtt_s: idle.p50.value, up: side(Direction::Up), down: side(Direction::Down) };
    if estimate.up.is_none() && estimate.down.is_none() {
        return Err("no direction was loaded".to_string());
    }
    Ok(estimate)
}

fn side(view: &View<'_>, direction: Direction) -> Option<SideEstimate> {
    let rise = view.rise_of(direction)?;
    let load = rise.phase.load.as_ref()?;
    let found = buffer(view, direction);
    let flows = if direction == Direction::Up { load.flows_up } else { load.flows_down };
    Some(SideEstimate {
        bits_per_second: capacity(view, direction, &rise)?.ip_bits_per_second(),
        buffer_bytes: found.map(|b| b.ip_bytes),
        is_lower_bound: still_growing(view, &rise),
        flows,
        congestion_control: load.congestion_control.clone(),
        seconds: rise.phase.seconds(),
    })
}
