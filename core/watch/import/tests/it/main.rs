//! Configurations of SmokePing and databases of any machine, from outside.
mod encode;
mod layouts;
mod rrd_bytes;
mod rrd_corpus;
mod rrdtool;
mod smokeping;
mod smokeping_bytes;
mod smokeping_rounds;
