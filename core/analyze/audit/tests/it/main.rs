//! Queue points of complete hosts compared with calculations by hand, and malformed input.
mod fixture;
mod golden;
mod listing;
mod listing_bytes;
mod observed;
mod rules;
