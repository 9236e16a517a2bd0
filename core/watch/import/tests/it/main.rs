//! Tests of SmokePing configurations and databases of any machine, through the public API.
mod encode;
mod layouts;
mod rrd_bytes;
mod rrd_corpus;
mod rrdtool;
mod smokeping;
mod smokeping_bytes;
mod smokeping_rounds;
