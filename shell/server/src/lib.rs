//! fathom serve
