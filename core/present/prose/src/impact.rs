//! What calls, games and web pages are like under load.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, Impact};
use fathom_run::{Call, Game, PhaseKind};
use fathom_text::seconds;

/// A page that takes this factor and this many seconds longer is noticed.
const SLOWER_FACTOR: f64 = 1.5;
const SLOWER_S: f64 = 0.5;

/// What is wrong with a call; `None` if nothing is.
fn call(call: &Call) -> Option<&'static str> {
    // The bands of ITU-T G.107 annex B.
    match call.r_factor {
        r if r >= 80.0 => None,
        r if r >= 70.0 => Some("calls lose quality"),
        r if r >= 60.0 => Some("calls are poor"),
        _ => Some("calls break up"),
    }
}

/// What is wrong with games; `None` if nothing is.
const fn games(game: Game) -> Option<&'static str> {
    match game {
        Game::All => None,
        Game::ThirdPerson => Some("shooters and racing games lag"),
        Game::FromAbove => Some("most games lag"),
        Game::ByTurns => Some("games lag"),
    }
}

fn page(loaded: &Impact, idle: &Impact) -> Option<String> {
    let (loaded, idle) = loaded.page_load_s.zip(idle.page_load_s)?;
    let slower = loaded >= SLOWER_FACTOR * idle && loaded - idle >= SLOWER_S;
    slower.then(|| format!("web pages take {} instead of {}", seconds(loaded), seconds(idle)))
}

fn impacts(diagnosis: &Diagnosis, phase: PhaseKind) -> Option<(Impact, Impact)> {
    diagnosis.phase(phase)?.impact.zip(diagnosis.phase(PhaseKind::Idle)?.impact)
}

/// What suffers in a phase and does not when the line is idle, to start a sentence; `None` if
/// nothing does.
pub(crate) fn noticed(diagnosis: &Diagnosis, phase: PhaseKind) -> Option<String> {
    let (loaded, idle) = impacts(diagnosis, phase)?;
    let changed = |now: Option<&'static str>, before| now.filter(|now| Some(*now) != before);
    let all = [
        changed(call(&loaded.call), call(&idle.call)).map(ToString::to_string),
        changed(games(loaded.game), games(idle.game)).map(ToString::to_string),
        page(&loaded, &idle),
    ];
    listed(all.into_iter().flatten().collect())
}

/// `Calls break up, games lag and web pages take 9.7 s instead of 1.3 s`.
fn listed(all: Vec<String>) -> Option<String> {
    let (last, rest) = all.split_last()?;
    let text = if rest.is_empty() { last.clone() } else { format!("{} and {last}", rest.join(", ")) };
    Some(crate::instrument::capitalized(&text))
}

/// What people notice in a phase, in one or two sentences; `None` if it is not known.
pub(crate) fn consequence(diagnosis: &Diagnosis, phase: PhaseKind) -> Option<String> {
    let (loaded, idle) = impacts(diagnosis, phase)?;
    let now = noticed(diagnosis, phase).map(|now| format!("{now}."));
    let kept = |trouble: Option<&'static str>, before| trouble.filter(|one| Some(*one) == before);
    let always = [kept(call(&loaded.call), call(&idle.call)), kept(games(loaded.game), games(idle.game))];
    let always = listed(always.into_iter().flatten().map(ToString::to_string).collect());
    let always = always.map(|text| format!("{text}, even when the line is idle."));
    let well = || {
        let pages =
            if loaded.page_load_s.is_some() { "Calls, games and web pages" } else { "Calls and games" };
        format!("{pages} work well.")
    };
    let parts: Vec<String> = now.into_iter().chain(always).collect();
    Some(if parts.is_empty() { well() } else { parts.join(" ") })
}
