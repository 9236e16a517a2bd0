//! Runs probes and load on real sockets
