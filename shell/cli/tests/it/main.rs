//! Tests of the whole program and of the workspace's shape.
mod architecture;
