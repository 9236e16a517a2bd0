//! What web servers of speed tests offer: networkQuality, Cloudflare and LibreSpeed. Sources:
//! draft-ietf-ippm-responsiveness-09, section 6; the clients `@cloudflare/speedtest` 1.4 and
//! LibreSpeed 5.4.

/// Length of the large object of networkQuality: at 10 Gbit/s, a minute.
pub const LARGE_BYTES: u64 = 64 << 30;
/// Length of a chunk of LibreSpeed.
const CHUNK_BYTES: u64 = 1 << 20;
/// Chunks that a request without a number gets.
const DEFAULT_CHUNKS: u64 = 4;

/// Path of the configuration of networkQuality.
pub const CONFIGURATION_PATH: &str = "/.well-known/nq";
/// Paths of its objects.
pub const SMALL_PATH: &str = "/nq/small";
/// See [`SMALL_PATH`].
pub const LARGE_PATH: &str = "/nq/large";
/// See [`SMALL_PATH`].
pub const UPLOAD_PATH: &str = "/nq/upload";

/// A resource of such a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// The configuration of networkQuality.
    Configuration,
    /// A download of so many bytes; the body of a `POST` is discarded, too.
    Download(u64),
    /// Where uploads go; empty for `GET`.
    Upload,
    /// The address of the client, for LibreSpeed.
    Address,
}

/// The resource at a path; `None` if there is none, or if its length is wrong.
#[must_use]
pub fn resource(path: &str, query: &str) -> Option<Resource> {
    let number = |name: &str, default: u64| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map_or(Some(default), |(_, value)| value.parse().ok())
    };
    let download = |bytes: u64| (bytes <= LARGE_BYTES).then_some(Resource::Download(bytes));
    match path {
        CONFIGURATION_PATH => Some(Resource::Configuration),
        SMALL_PATH => download(1),
        LARGE_PATH => download(LARGE_BYTES),
        "/__down" => download(number("bytes", 0)?),
        "/garbage" | "/backend/garbage" | "/backend/garbage.php" => {
            download(number("ckSize", DEFAULT_CHUNKS)?.checked_mul(CHUNK_BYTES)?)
        }
        UPLOAD_PATH | "/__up" | "/empty" | "/backend/empty" | "/backend/empty.php" => Some(Resource::Upload),
        "/getIP" | "/backend/getIP" | "/backend/getIP.php" => Some(Resource::Address),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_of_every_client() {
        for (path, query, expected) in [
            ("/.well-known/nq", "", Some(Resource::Configuration)),
            ("/nq/small", "", Some(Resource::Download(1))),
            ("/nq/large", "", Some(Resource::Download(64 << 30))),
            ("/__down", "", Some(Resource::Download(0))),
            ("/__down", "measId=1&bytes=100000", Some(Resource::Download(100_000))),
            ("/__down", "bytes=-1", None),
            ("/__down", "bytes=68719476737", None),
            ("/backend/garbage.php", "r=0.5&ckSize=100", Some(Resource::Download(100 << 20))),
            ("/backend/garbage.php", "ckSize=18446744073709551615", None),
            ("/garbage", "", Some(Resource::Download(4 << 20))),
            ("/backend/empty.php", "r=0.1", Some(Resource::Upload)),
            ("/backend/getIP.php", "", Some(Resource::Address)),
            ("/backend/", "", None),
        ] {
            assert_eq!(resource(path, query), expected, "{path}?{query}");
        }
    }
}
