//! Phases and directions within sentences.
use fathom_run::PhaseKind;
use fathom_units::Direction;

/// What the user does in a phase, to start a sentence.
pub(crate) const fn doing(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Up => "Uploading",
        PhaseKind::Down => "Downloading",
        PhaseKind::Both => "Uploading and downloading at once",
        PhaseKind::Idle | PhaseKind::Drain | PhaseKind::Watch => "Doing nothing",
    }
}

/// What the user does in a phase, within a sentence.
pub(crate) const fn while_doing(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Up => "while uploading",
        PhaseKind::Down => "while downloading",
        PhaseKind::Both => "while uploading and downloading",
        PhaseKind::Idle => "while the line was idle",
        PhaseKind::Drain => "after the load",
        PhaseKind::Watch => "in this period",
    }
}

/// `upload` or `download`.
pub(crate) const fn noun(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "upload",
        Direction::Down => "download",
    }
}
