//! Estimates the parameters of a line from a run, for a simulation of it.
use crate::Health;
use crate::health::judge;
use crate::rules::bound::still_growing;
use crate::rules::buffer::buffer;
use crate::summarize::line_goodput;
use crate::view::View;
use alloc::string::{String, ToString};
use fathom_run::Run;
use fathom_units::{Direction, IP_PER_PAYLOAD};

/// A path with one bottleneck per direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LineEstimate {
    /// Median round-trip time without load, in seconds.
    pub idle_rtt_s: f64,
    /// Upload; `None` if that direction was not loaded.
    pub up: Option<SideEstimate>,
    /// Download; `None` if that direction was not loaded.
    pub down: Option<SideEstimate>,
}

/// Bottleneck of one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct SideEstimate {
    /// Rate in bits of IP packets per second.
    pub bits_per_second: f64,
    /// Largest queue in bytes of IP packets; `None` if there was none.
    pub buffer_bytes: Option<f64>,
    /// The queue was still growing when the phase ended, so the buffer is larger.
    pub is_lower_bound: bool,
    /// Number of flows that filled it.
    pub flows: u32,
    /// Congestion control of these flows.
    pub congestion_control: String,
    /// Duration of the load in seconds.
    pub seconds: f64,
}

/// Estimates the line of `run`.
///
/// # Errors
/// The reason: no idle latency, no load, or an invalid measurement.
pub fn estimate_line(run: &Run) -> Result<LineEstimate, String> {
    let view = View::new(run);
    if judge(&view).health == Health::Invalid {
        return Err("the measurement is invalid".to_string());
    }
    let idle = view.idle().ok_or("idle latency was not measured")?;
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
    let goodput = || line_goodput(view.run, direction, rise.phase).map(|goodput| goodput * IP_PER_PAYLOAD);
    let flows = if direction == Direction::Up { load.flows_up } else { load.flows_down };
    Some(SideEstimate {
        bits_per_second: found.as_ref().map(|b| b.line_bits_per_second()).or_else(goodput)?,
        buffer_bytes: found.map(|b| b.ip_bytes),
        is_lower_bound: still_growing(view, &rise),
        flows,
        congestion_control: load.congestion_control.clone(),
        seconds: rise.phase.seconds(),
    })
}
