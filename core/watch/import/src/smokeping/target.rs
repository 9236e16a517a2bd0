//! Converts one target from SmokePing's variables.
use super::probe::ProbeMethod;
use super::text::{milliseconds, quoted, time};
use super::tree::{Tree, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_watch_plan::MIN_SIZE;

/// Keys with their values in TOML syntax.
pub(super) type Keys = Vec<(&'static str, String)>;

/// SmokePing's default step, if its Database section has none.
const DEFAULT_STEP_S: u64 = 300;
const DEFAULT_PINGS: u64 = 20;
/// Most probes that Fathom sends per round.
const MAX_PINGS: u64 = 1_000;
const MIN_GAP_MS: u64 = 10;
const MAX_SIZE: u64 = 1_452;

/// Scope of a target's variables: its section and the enclosing ones, then its probe's section,
/// then the database's.
pub(super) struct Scope<'t> {
    pub(super) tree: &'t Tree,
    pub(super) target: usize,
    pub(super) probe: Option<usize>,
    pub(super) database: Option<usize>,
}

/// The schedule of a target in SmokePing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pace {
    pub(super) step_s: u64,
    pub(super) pings: u64,
    pub(super) gap_ms: u64,
    /// Single probes, spread over the step.
    pub(super) steady: bool,
}

impl Pace {
    pub(super) fn keys(self) -> Keys {
        if self.steady {
            let interval_ms = (self.step_s * 1_000 / self.pings).max(100);
            return Vec::from([
                ("interval", time(interval_ms)),
                ("round", "1".to_string()),
                ("gap", time(1_000)),
            ]);
        }
        let interval = time(self.step_s * 1_000);
        Vec::from([("interval", interval), ("round", self.pings.to_string()), ("gap", time(self.gap_ms))])
    }
}

impl<'t> Scope<'t> {
    pub(super) fn value(&self, key: &str) -> Option<&'t Value> {
        let probe = || self.probe.and_then(|place| self.tree.inherited(place, key));
        self.tree.inherited(self.target, key).or_else(probe)
    }
    pub(super) fn text(&self, key: &str) -> Option<&'t str> {
        self.value(key).map(|value| value.text.as_str()).filter(|text| !text.is_empty())
    }
    fn number(&self, key: &str) -> Option<u64> {
        let database =
            || self.database.and_then(|place| self.tree.inherited(place, key)).map(|v| v.text.as_str());
        self.text(key).or_else(database)?.parse().ok()
    }
    pub(super) fn pace(&self, kind: &str) -> Pace {
        let step_s = self.number("step").filter(|s| (1..=86_400).contains(s)).unwrap_or(DEFAULT_STEP_S);
        let pings = self.number("pings").unwrap_or(DEFAULT_PINGS).clamp(1, MAX_PINGS);
        let given = self.text("hostinterval").and_then(milliseconds).filter(|ms| *ms > 0).unwrap_or(1_000);
        let max_gap_ms = (step_s * 1_000 / pings).max(1);
        let steady = kind == "FPingContinuous" || max_gap_ms < MIN_GAP_MS;
        Pace { step_s, pings, gap_ms: given.clamp(MIN_GAP_MS, max_gap_ms.max(MIN_GAP_MS)), steady }
    }
    /// The keys for the host and the probe.
    pub(super) fn keys(&self, kind: &str, method: ProbeMethod, host: &str) -> Result<Keys, String> {
        let mut keys = self.method(method, host)?;
        keys.extend(self.family(kind, host).map(|family| ("family", quoted(family))));
        let timeout = self.text("timeout").and_then(milliseconds).filter(|ms| (10..=600_000).contains(ms));
        keys.extend(timeout.map(|ms| ("timeout", time(ms))));
        keys.extend(self.text("sourceaddress").map(|text| ("source", quoted(text))));
        keys.extend(
            self.text("tos")
                .and_then(tos)
                .filter(|tos| *tos >= 4)
                .map(|tos| ("dscp", (tos >> 2).to_string())),
        );
        let size = self.number("packetsize").filter(|_| method == ProbeMethod::Icmp);
        keys.extend(size.map(|size| ("size", size.clamp(u64::from(MIN_SIZE), MAX_SIZE).to_string())));
        Ok(keys)
    }
    fn method(&self, method: ProbeMethod, host: &str) -> Result<Keys, String> {
        let probe = |name: &str| ("probe", quoted(name));
        let of_host = ("host", quoted(host));
        let port = self.number("port").filter(|port| (1..=65_535).contains(port));
        Ok(match method {
            ProbeMethod::Icmp => Vec::from([of_host, probe("icmp")]),
            ProbeMethod::Tcp(usual) => {
                Vec::from([of_host, probe(&format!("tcp:{}", port.unwrap_or(u64::from(usual))))])
            }
            ProbeMethod::Url => {
                let format = self.text("urlformat").ok_or("urlformat is missing")?;
                Vec::from([("url", quoted(&format.replace("%host%", host)))])
            }
            ProbeMethod::Http(name) => {
                let path = self.text("url").unwrap_or("/");
                if !path.starts_with('/') {
                    return Err(format!("requests {path} from a proxy, which is not supported"));
                }
                let named = port.map_or_else(|| name.to_string(), |port| format!("{name}:{port}"));
                Vec::from([of_host, probe(&named), ("path", quoted(path))])
            }
            ProbeMethod::Dns => self.dns(host, port),
            ProbeMethod::Hops => {
                let mut keys =
                    Vec::from([("host", quoted(self.text("desthost").unwrap_or(host))), probe("hops")]);
                let max_gap_ms = self.number("maxttl").filter(|n| (1..=64).contains(n));
                keys.extend(max_gap_ms.map(|n| ("max_hops", n.to_string())));
                keys
            }
            ProbeMethod::Not(why) => return Err(why.to_string()),
        })
    }
    fn dns(&self, host: &str, port: Option<u64>) -> Keys {
        let server = self.text("server").unwrap_or(host);
        let name = self.text("lookup").or_else(|| self.text("dns_request")).unwrap_or(host);
        let probe = port.map_or_else(|| "dns".to_string(), |port| format!("dns:{port}"));
        let mut keys =
            Vec::from([("host", quoted(server)), ("probe", quoted(&probe)), ("query", quoted(name))]);
        let of_type = self.text("recordtype").or_else(|| self.text("dns_type"));
        keys.extend(of_type.map(|text| ("query_type", quoted(text))));
        keys
    }
    /// SmokePing's fping uses IPv4 unless configured otherwise.
    fn family(&self, kind: &str, host: &str) -> Option<&'static str> {
        let given = self.text("protocol").or_else(|| self.text("ipversion"));
        let is_address = host.parse::<core::net::IpAddr>().is_ok();
        match (kind, given) {
            _ if is_address => None,
            ("FPing6", _) | (_, Some("6")) => Some("ipv6"),
            ("FPing", None) | (_, Some("4")) => Some("ipv4"),
            _ => None,
        }
    }
}

/// The IPv4 TOS byte, in the notations that fping accepts.
fn tos(text: &str) -> Option<u8> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    hex.map_or_else(|| text.parse().ok(), |digits| u8::from_str_radix(digits, 16).ok())
}

/// A converted target.
pub(super) struct ConvertedTarget {
    /// Its section in the tree.
    pub(super) place: usize,
    /// Name with its group.
    pub(super) name: String,
    pub(super) group: String,
    pub(super) short: String,
    pub(super) about: String,
    pub(super) pace: Pace,
    pub(super) keys: Keys,
    pub(super) differs: Option<String>,
}

impl ConvertedTarget {
    /// A configuration with this target in its group, for validation.
    pub(super) fn checked(&self) -> String {
        if self.group.is_empty() {
            return table(self, "target", &Keys::new());
        }
        format!("[[group]]\nname = {}\n{}", quoted(&self.group), table(self, "group.target", &Keys::new()))
    }
    /// The target without a group, for a separate configuration.
    pub(super) fn alone(&self) -> String {
        let keys: String = self.pace.keys().iter().chain(&self.keys).map(line).collect();
        format!("[[target]]\nname = {}\n{keys}", quoted(&self.name))
    }
}

pub(super) fn table(target: &ConvertedTarget, name: &str, shared: &Keys) -> String {
    let about = if target.about.is_empty() { String::new() } else { format!("# {}\n", target.about) };
    let pace = target.pace.keys();
    let own = pace.iter().filter(|key| !shared.contains(key)).chain(&target.keys);
    let keys: String = own.map(line).collect();
    format!("\n{about}[[{name}]]\nname = {}\n{keys}", quoted(&target.short))
}

pub(super) fn line((key, value): &(&'static str, String)) -> String {
    format!("{key} = {value}\n")
}
