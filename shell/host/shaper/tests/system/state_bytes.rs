//! Properties that hold for any bytes given as a state: no panic, and an accepted state is written
//! as it was read.
use fathom_shaper::State;

pub(crate) fn check(bytes: &[u8]) {
    match State::parse(&String::from_utf8_lossy(bytes)) {
        Ok(state) => assert_eq!(State::parse(&state.text()), Ok(state)),
        Err(what) => assert!(!what.is_empty()),
    }
}
