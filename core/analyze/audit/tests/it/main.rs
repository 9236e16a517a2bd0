//! Queue points of whole hosts against calculations done by hand; hostile trees.
mod fixture;
mod golden;
mod listing;
mod listing_bytes;
mod observed;
mod rules;
