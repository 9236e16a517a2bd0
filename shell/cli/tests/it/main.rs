//! Tests of the whole program and of the workspace's shape. Those that make namespaces need root, and fail without it.
mod architecture;
mod faults;
mod help;
mod lab;
mod pipeline;
mod program;
