//! Places of whole hosts against sums done by hand; hostile trees.
mod fixture;
mod golden;
mod listing;
mod listing_bytes;
mod rules;
mod seen;
mod sum;
