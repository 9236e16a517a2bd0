//! The routers between a host and a server.
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The path to a server, as found by probes that expire on it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Path {
    /// Routers that answered, in the order of the path.
    pub hops: Vec<Hop>,
    /// Number of the hop that is the server, if it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_hop: Option<u8>,
    /// Number of hops from the server back to this host. If it differs from `server_hop`, downloads
    /// take another path than uploads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_return_hops: Option<u8>,
    /// Routers from the server to this host, numbered from the server, if it probes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub return_path: Vec<Hop>,
    /// Link of this host to the first router, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_link: Option<FirstLink>,
    /// Times at which a router was replaced by another, in nanoseconds of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes_ns: Vec<u64>,
}

/// A router of a path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hop {
    /// Number from 1: the hop limit (TTL) that expires there. The scope of its series.
    pub number: u8,
    /// Its address.
    pub address: String,
    /// Address of the router that answered segments of the load instead, if that is another one:
    /// routers divide flows among several paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_address: Option<String>,
    /// Address of another router that answered datagrams of other flows: routers divide flows among
    /// several paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_address: Option<String>,
    /// Its name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whose it is, if a local table says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autonomous_system: Option<AutonomousSystem>,
    /// Number of hops from it back to this host, inferred from the hop limit of its replies. If it
    /// differs from `number`, its replies take another path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_hops: Option<u8>,
}

/// Networks under one routing policy (RFC 4271).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AutonomousSystem {
    /// Its number.
    pub number: u32,
    /// Whose it is.
    pub name: String,
}

impl core::fmt::Display for AutonomousSystem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "AS{} {}", self.number, self.name)
    }
}

/// Kind of link between this host and the first router.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstLink {
    /// Ethernet.
    Wired,
    /// Wi-Fi.
    Wifi,
}
