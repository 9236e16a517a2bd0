//! Checks which shaper features the kernel supports, by trying them in a private network namespace.
use crate::Framing;
use crate::error::ApplyError;
use crate::kernel::Kernel;
use crate::plan::ETHERNET_HEADER_BYTES;
use crate::shaper::{FULL_PACKET, Shaper, ShaperKind, redirect};
use fathom_os::netns::NetNs;
use fathom_os::userns;
use fathom_tc::{Handle, Kind, Match, Qdisc, Request, U32Key, Verb};
use fathom_units::Rate;

/// Shaper features of the kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Abilities {
    /// Each type of shaper, and why it is unavailable.
    pub kinds: Vec<(ShaperKind, Result<(), String>)>,
    /// How ingress packets are redirected to an ifb, or why they cannot be.
    pub redirect: Result<Match, String>,
}

/// Interfaces in the private namespace.
const TRIED: &str = "fathom0";
const BESIDE: &str = "fathom1";
const MAJOR: u16 = 1;

impl Abilities {
    /// Tries all features.
    ///
    /// # Errors
    /// If no network namespace can be created.
    pub fn probe() -> Result<Abilities, ApplyError> {
        let namespace = NetNs::create()
            .map_err(|error| ApplyError::words("private namespace", userns::explain(error).to_string()))?;
        let tried = std::thread::spawn(move || {
            namespace.enter().map_err(ApplyError::system("enter a network namespace"))?;
            try_all(&mut Kernel::open()?)
        });
        tried.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
    /// The best available shaper, or the requested one. Multi-queue shapers are considered only if
    /// `may_spread`.
    ///
    /// # Errors
    /// Why it is unavailable, in the kernel's words.
    pub fn choose(&self, asked: Option<ShaperKind>, may_spread: bool) -> Result<ShaperKind, String> {
        let is_meant =
            |kind: ShaperKind| asked.map_or(may_spread || kind != ShaperKind::CakeMq, |asked| asked == kind);
        let mut why = Vec::new();
        for (kind, result) in self.kinds.iter().filter(|(kind, _)| is_meant(*kind)) {
            match result {
                Ok(()) => return Ok(*kind),
                Err(words) => why.push(format!("{kind}: {words}")),
            }
        }
        Err(format!("this kernel supports no suitable shaper ({})", why.join("; ")))
    }
}

fn try_all(kernel: &mut Kernel) -> Result<Abilities, ApplyError> {
    // Two queues: with one alone, multi-queue shapers cannot be tried.
    let ifbs = [TRIED, BESIDE].map(|name| Request::AddIfb { name: name.to_owned(), queues: 2 });
    if let Err(error) = kernel.run(&ifbs) {
        // Without an ifb, egress shapers are still possible; try them on the loopback.
        let kinds = ShaperKind::ALL.map(|kind| (kind, try_kind(kernel, "lo", kind))).to_vec();
        return Ok(Abilities { kinds, redirect: Err(error.to_string()) });
    }
    let up = |name: &str| Request::SetLink { name: name.to_owned(), up: Some(true), queue_packets: None };
    kernel.run(&[up(TRIED), up(BESIDE)])?;
    let kinds = ShaperKind::ALL.map(|kind| (kind, try_kind(kernel, TRIED, kind))).to_vec();
    Ok(Abilities { kinds, redirect: try_redirect(kernel) })
}

/// Tries a shaper; the rate does not matter.
fn try_kind(kernel: &mut Kernel, device: &str, kind: ShaperKind) -> Result<(), String> {
    let rate = Rate::from_bits_per_second(10_000_000);
    let shaper = Shaper {
        kind,
        rate,
        framing: Framing::default(),
        header_bytes: ETHERNET_HEADER_BYTES,
        frame_bytes: FULL_PACKET,
        ingress: false,
        round_trip: None,
    };
    let result = kernel.run(&shaper.requests(device, MAJOR)).map_err(|error| reason(&error));
    // Fails if there is nothing to remove.
    let _ = kernel.run(&[Request::DeleteQdisc { device: device.into(), parent: Handle::ROOT, kind: None }]);
    result
}

/// The kernel's reason, without the command.
fn reason(error: &ApplyError) -> String {
    match &error.cause {
        crate::Cause::Refused(refusal) => refusal.to_string(),
        _ => error.to_string(),
    }
}

/// Tries the match-all filter; if it is missing, a u32 filter that compares no bits.
fn try_redirect(kernel: &mut Kernel) -> Result<Match, String> {
    let qdisc =
        Qdisc { parent: Handle::INGRESS, handle: Handle::INGRESS_QDISC, kind: Kind::Ingress, stab: None };
    let ingress = Request::Qdisc { verb: Verb::Add, device: TRIED.to_owned(), qdisc };
    kernel.run(&[ingress]).map_err(|error| reason(&error))?;
    let mut why = Vec::new();
    for matches in [Match::All, Match::U32(vec![U32Key::default()])] {
        match kernel.run(&[redirect(TRIED, Handle::INGRESS_QDISC, 1, matches.clone(), BESIDE)]) {
            Ok(()) => return Ok(matches),
            Err(error) => why.push(reason(&error)),
        }
    }
    Err(why.join("; "))
}
