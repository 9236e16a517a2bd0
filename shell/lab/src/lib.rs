//! Namespaces and TUN: core/link in real time
