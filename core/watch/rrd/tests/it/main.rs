//! Databases of any machine, from outside.
mod corpus;
mod encode;
mod layouts;
mod rrd_bytes;
mod rrdtool;
