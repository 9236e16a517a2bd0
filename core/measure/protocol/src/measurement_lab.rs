//! The speed tests of Measurement Lab over WebSocket: ndt7 and msak (throughput1); and Locate v2,
//! which names a server near the client.
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::SocketAddr;
use fathom_units::Direction;
use serde::{Deserialize, Serialize};

/// Largest message that a server may send (ndt7, section 2.2).
pub const MAX_MESSAGE_BYTES: usize = 1 << 24;
/// Duration that is requested of an msak server, which ends tests after 25 s.
const MSAK_MS: u32 = 24_000;
/// Congestion controls that an msak server can be asked for. It refuses requests for others.
const MSAK_CONGESTION_CONTROLS: [&str; 3] = ["reno", "cubic", "bbr"];

/// A speed test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpeedTest {
    /// ndt7: 10 s of load. The server sends with BBR where its kernel has it.
    Ndt7,
    /// msak, throughput1: the client chooses the congestion control.
    Msak,
}

impl SpeedTest {
    /// Its name, which is the scheme of URLs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SpeedTest::Ndt7 => "ndt7",
            SpeedTest::Msak => "msak",
        }
    }
    /// The subprotocol of WebSocket.
    #[must_use]
    pub const fn subprotocol(self) -> &'static str {
        match self {
            SpeedTest::Ndt7 => "net.measurementlab.ndt.v7",
            SpeedTest::Msak => "net.measurementlab.throughput.v1",
        }
    }
    /// Path of the load in a direction.
    #[must_use]
    pub const fn path(self, direction: Direction) -> &'static str {
        match (self, direction) {
            (SpeedTest::Ndt7, Direction::Down) => "/ndt/v7/download",
            (SpeedTest::Ndt7, Direction::Up) => "/ndt/v7/upload",
            (SpeedTest::Msak, Direction::Down) => "/throughput/v1/download",
            (SpeedTest::Msak, Direction::Up) => "/throughput/v1/upload",
        }
    }
    /// Parameters of the path that the server needs: for msak a name of the test, the number of its
    /// streams, and the congestion control if it knows it.
    #[must_use]
    pub fn query(self, test: &str, streams: u32, congestion_control: &str) -> String {
        match self {
            SpeedTest::Ndt7 => String::new(),
            SpeedTest::Msak => {
                let is_known = MSAK_CONGESTION_CONTROLS.contains(&congestion_control);
                let chosen = if is_known { format!("&cc={congestion_control}") } else { String::new() };
                format!("mid={test}&streams={streams}&duration={MSAK_MS}{chosen}")
            }
        }
    }
    /// The request to Locate for servers near the client.
    #[must_use]
    pub const fn locate_url(self) -> &'static str {
        match self {
            SpeedTest::Ndt7 => "https://locate.measurementlab.net/v2/nearest/ndt/ndt7",
            SpeedTest::Msak => "https://locate.measurementlab.net/v2/nearest/msak/throughput1",
        }
    }
}

/// The congestion control of the sender, if a measurement of the server names it.
#[must_use]
pub fn congestion_control(measurement: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Measurement {
        #[serde(rename = "CC")]
        cc: Option<String>,
        #[serde(rename = "BBRInfo")]
        bbr: Option<serde_json::Value>,
    }
    let Measurement { cc, bbr } = serde_json::from_str(measurement).ok()?;
    cc.filter(|name| !name.is_empty()).or_else(|| bbr.filter(|info| !info.is_null()).map(|_| "bbr".into()))
}

/// A measurement of a server of ndt7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// Direction of the load.
    pub direction: Direction,
    /// Time since the start, in microseconds.
    pub elapsed_us: u64,
    /// Bytes that the server has sent or received.
    pub bytes: u64,
    /// Address of the client.
    pub client: SocketAddr,
    /// Address of the server.
    pub server: SocketAddr,
    /// What the server's TCP reports.
    pub tcp: Option<Sender>,
}

/// What the TCP of a sender reports (Linux TCP_INFO).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Sender {
    /// Smoothed round-trip time, in microseconds.
    #[serde(rename = "RTT")]
    pub rtt_us: u32,
    /// Smallest round-trip time, in microseconds.
    #[serde(rename = "MinRTT")]
    pub min_rtt_us: u32,
    /// Bytes that the receiver has acknowledged.
    pub bytes_acked: Option<u64>,
    /// Bytes sent, with those sent again.
    pub bytes_sent: u64,
    /// Bytes sent again.
    pub bytes_retrans: u64,
}

/// The message of a measurement (ndt7, section 2.3).
#[must_use]
pub fn measurement(measured: &Measured) -> String {
    let Measured { direction, elapsed_us, bytes, client, server, tcp } = measured;
    let mut tcp = serde_json::to_value(tcp).unwrap_or_default();
    if let Some(tcp) = tcp.as_object_mut() {
        tcp.insert("ElapsedTime".into(), (*elapsed_us).into());
        if *direction == Direction::Up {
            tcp.insert("BytesReceived".into(), (*bytes).into());
        }
    }
    serde_json::json!({
        "AppInfo": { "ElapsedTime": elapsed_us, "NumBytes": bytes },
        "ConnectionInfo": { "Client": client.to_string(), "Server": server.to_string() },
        "Origin": "server",
        "Test": if *direction == Direction::Up { "upload" } else { "download" },
        "TCPInfo": tcp,
    })
    .to_string()
}

/// A server that Locate names: the URL of each direction with a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located {
    /// Its city, or its name.
    pub place: String,
    /// URL of downloads.
    pub download: String,
    /// URL of uploads.
    pub upload: String,
}

/// Parses the response of Locate: the servers that have both directions with TLS, nearest first.
///
/// # Errors
/// If it is not such a response, or names no server.
pub fn locate(bytes: &[u8], test: SpeedTest) -> Result<Vec<Located>, String> {
    #[derive(Deserialize)]
    struct Response {
        #[serde(default)]
        results: Vec<Machine>,
    }
    #[derive(Deserialize)]
    struct Machine {
        machine: String,
        location: Option<Location>,
        urls: BTreeMap<String, String>,
    }
    #[derive(Deserialize)]
    struct Location {
        city: Option<String>,
    }
    let Response { results } = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    let known = |Machine { machine, location, mut urls }: Machine| {
        let mut take = |direction| urls.remove(&format!("wss://{}", test.path(direction)));
        let (download, upload) = (take(Direction::Down)?, take(Direction::Up)?);
        Some(Located { place: location.and_then(|l| l.city).unwrap_or(machine), download, upload })
    };
    let servers: Vec<Located> = results.into_iter().filter_map(known).collect();
    if servers.is_empty() {
        return Err(format!("no server for {} now", test.name()));
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_servers_are_named_with_their_tokens() {
        let answer = r#"{"results":[
            {"machine":"mlab1-a","location":{"city":"Ghent","country":"BE"},
             "urls":{"wss:///ndt/v7/download":"wss://a/ndt/v7/download?access_token=x",
                     "wss:///ndt/v7/upload":"wss://a/ndt/v7/upload?access_token=y",
                     "ws:///ndt/v7/download":"ws://a/ndt/v7/download?access_token=z"}},
            {"machine":"clear-only","urls":{"ws:///ndt/v7/upload":"ws://b/"}}]}"#;
        let servers = locate(answer.as_bytes(), SpeedTest::Ndt7).unwrap();
        assert_eq!(servers.len(), 1);
        assert_eq!(servers[0].place, "Ghent");
        assert_eq!(servers[0].upload, "wss://a/ndt/v7/upload?access_token=y");
        assert_eq!(locate(answer.as_bytes(), SpeedTest::Msak), Err("no server for msak now".into()));
        assert!(locate(b"<html>", SpeedTest::Ndt7).is_err());
        assert!(locate(br#"{"error":{"title":"busy"}}"#, SpeedTest::Ndt7).is_err());
    }

    #[test]
    fn a_measurement_has_the_names_of_the_specification() {
        let tcp =
            Sender { rtt_us: 20, min_rtt_us: 10, bytes_acked: Some(3), bytes_sent: 5, bytes_retrans: 1 };
        let (client, server) = ("192.0.2.1:1".parse().unwrap(), "[2001:db8::1]:443".parse().unwrap());
        let up =
            Measured { direction: Direction::Up, elapsed_us: 7, bytes: 9, client, server, tcp: Some(tcp) };
        let text = r#"{"AppInfo":{"ElapsedTime":7,"NumBytes":9},"ConnectionInfo":{"Client":"192.0.2.1:1","Server":"[2001:db8::1]:443"},"Origin":"server","TCPInfo":{"BytesAcked":3,"BytesReceived":9,"BytesRetrans":1,"BytesSent":5,"ElapsedTime":7,"MinRTT":10,"RTT":20},"Test":"upload"}"#;
        assert_eq!(measurement(&up), text);
        let down = measurement(&Measured { direction: Direction::Down, tcp: None, ..up });
        assert!(down.contains(r#""TCPInfo":null,"Test":"download""#), "{down}");
    }

    #[test]
    fn the_congestion_control_is_that_of_the_sender() {
        assert_eq!(congestion_control(r#"{"CC":"cubic","BBRInfo":null}"#), Some("cubic".into()));
        assert_eq!(congestion_control(r#"{"BBRInfo":{"BW":1}}"#), Some("bbr".into()));
        for unknown in ["{}", r#"{"CC":""}"#, "1", "", r#"{"CC":5}"#] {
            assert_eq!(congestion_control(unknown), None, "{unknown}");
        }
        // A server refuses names that it does not know.
        assert_eq!(SpeedTest::Msak.query("m", 2, "prague"), "mid=m&streams=2&duration=24000");
        assert_eq!(SpeedTest::Msak.query("m", 2, "reno"), "mid=m&streams=2&duration=24000&cc=reno");
    }
}
