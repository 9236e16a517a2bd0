//! What must hold for any bytes that are given as a state: nothing falls, and what is accepted is written as it was read.
use fathom_shaper::State;

pub(crate) fn check(bytes: &[u8]) {
    match State::parse(&String::from_utf8_lossy(bytes)) {
        Ok(state) => assert_eq!(State::parse(&state.text()), Ok(state)),
        Err(what) => assert!(!what.is_empty()),
    }
}
