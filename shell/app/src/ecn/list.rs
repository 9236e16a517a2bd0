//! Lists of hosts, and hosts that must not be tested.
use crate::AppError;
use crate::error::CommandError;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::Path;

/// A host of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Host {
    /// Name or address.
    pub(super) name: String,
    /// Address, if the list has both.
    pub(super) address: Option<String>,
    /// TCP port.
    pub(super) port: u16,
    /// Rank in the list.
    pub(super) rank: Option<u64>,
}

impl Host {
    /// The name or address to resolve.
    pub(super) fn target(&self) -> &str {
        self.address.as_deref().unwrap_or(&self.name)
    }
}

/// The hosts of the arguments, `HOST` or `HOST:PORT`.
///
/// # Errors
/// If one of them is neither.
pub(super) fn hosts_of(names: &[String], port: u16) -> Result<Vec<Host>, AppError> {
    names.iter().map(|name| named(name, port, None).map_err(wrong)).collect()
}

/// Reads a list: in each line `HOST`, `HOST:PORT`, `RANK,HOST` or a JSON object of PATHspider.
/// Hosts without a port get `port`, and a host that is there twice counts once.
///
/// # Errors
/// If the file cannot be read, a line is none of these, or it has no host.
pub(super) fn read_list(path: &Path, port: u16) -> Result<Vec<Host>, AppError> {
    let hosts = each_line(path, |line| host(line, port))?;
    let mut known = BTreeSet::new();
    let hosts: Vec<Host> =
        hosts.into_iter().filter(|host| known.insert((host.name.clone(), host.port))).collect();
    if hosts.is_empty() {
        return Err(wrong(format!("{}: no host", path.display())));
    }
    Ok(hosts)
}

/// Hosts that must not be tested.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct OptOut {
    domains: BTreeSet<String>,
    networks: Vec<(Ipv4Addr, u32)>,
}

/// Reads hosts that must not be tested: in each line a domain, an IPv4 address or a prefix.
///
/// # Errors
/// If the file cannot be read, or a line is none of these.
pub(super) fn read_opt_out(path: &Path) -> Result<OptOut, AppError> {
    let mut all = OptOut::default();
    each_line(path, |line| {
        match prefix(line)? {
            Some(network) => all.networks.push(network),
            None => all.add_domain(checked(line)?),
        }
        Ok(())
    })?;
    Ok(all)
}

impl OptOut {
    pub(super) fn add_domain(&mut self, name: &str) {
        self.domains.insert(name.to_ascii_lowercase());
    }
    /// Whether a host of this name, or all hosts of its domain, must not be tested.
    pub(super) fn has_name(&self, host: &str) -> bool {
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        let mut rest = name.as_str();
        loop {
            if self.domains.contains(rest) {
                return true;
            }
            match rest.split_once('.') {
                Some((_, parent)) => rest = parent,
                None => return false,
            }
        }
    }
    /// Whether this address must not be tested.
    pub(super) fn has_address(&self, address: Ipv4Addr) -> bool {
        self.networks.iter().any(|(network, mask)| address.to_bits() & mask == network.to_bits() & mask)
    }
}

fn wrong(text: String) -> AppError {
    AppError::Command(CommandError::EcnList(text))
}

/// Calls `read` with each line that is neither empty nor a comment.
fn each_line<T>(path: &Path, mut read: impl FnMut(&str) -> Result<T, String>) -> Result<Vec<T>, AppError> {
    let name = path.display();
    let text =
        std::fs::read(path).map_err(|source| AppError::Unreadable { name: name.to_string(), source })?;
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    let mut all = Vec::new();
    for (number, line) in lines {
        let fail = |why: String| wrong(format!("{name}:{}: {why}", number + 1));
        let line = str::from_utf8(line).map_err(|_| fail("not UTF-8 text".into()))?.trim();
        if !line.is_empty() && !line.starts_with('#') {
            all.push(read(line).map_err(fail)?);
        }
    }
    Ok(all)
}

fn host(line: &str, port: u16) -> Result<Host, String> {
    if line.starts_with('{') {
        return job(line, port);
    }
    match line.split_once(',') {
        None => named(line, port, None),
        Some((rank, name)) => {
            let number = rank.trim().parse().map_err(|_| format!("invalid rank \"{rank}\""))?;
            named(name.trim(), port, Some(number))
        }
    }
}

/// A line in the input format of PATHspider: address `dip`, port `dp`, name `domain` and `rank`.
fn job(line: &str, port: u16) -> Result<Host, String> {
    let job: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |key: &str| job.get(key).and_then(Value::as_str);
    let name = text("domain").or(text("dip")).ok_or("\"dip\" is missing")?;
    let address = text("dip").map(checked).transpose()?.map(str::to_owned);
    let own_port = match job.get("dp") {
        None | Some(Value::Null) => port,
        Some(value) => {
            let number = value.as_u64().and_then(|number| u16::try_from(number).ok()).filter(|n| *n > 0);
            number.ok_or_else(|| format!("invalid port \"{value}\""))?
        }
    };
    Ok(Host { address, ..named(name, own_port, job.get("rank").and_then(Value::as_u64))? })
}

/// `HOST` or `HOST:PORT`. An IPv6 address has more colons.
fn named(text: &str, port: u16, rank: Option<u64>) -> Result<Host, String> {
    let (name, port) = match checked(text)?.split_once(':') {
        Some((name, own)) if !own.contains(':') => {
            let number = own.parse().ok().filter(|number| *number > 0);
            (name, number.ok_or_else(|| format!("invalid port \"{own}\""))?)
        }
        _ => (text, port),
    };
    Ok(Host { name: name.to_owned(), address: None, port, rank })
}

/// The name, if it may be one of a host.
fn checked(name: &str) -> Result<&str, String> {
    let is_valid = |c: char| c.is_alphanumeric() || ".-_:[]".contains(c);
    if name.starts_with(|c: char| c.is_alphanumeric() || c == '[') && name.chars().all(is_valid) {
        Ok(name)
    } else {
        Err(format!("invalid host \"{}\"", fathom_text::printable(name)))
    }
}

/// An address or a prefix, with its mask. `None` if it is neither.
fn prefix(text: &str) -> Result<Option<(Ipv4Addr, u32)>, String> {
    let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
    let Ok(address) = address.parse() else { return Ok(None) };
    let bits: Option<u32> = bits.parse().ok().filter(|bits| *bits <= 32);
    let bits = bits.ok_or_else(|| format!("invalid prefix \"{text}\""))?;
    Ok(Some((address, u32::MAX.checked_shl(32 - bits).unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line() {
        let read = |line| host(line, 443);
        let plain = |port, rank| Host { name: "example.org".into(), address: None, port, rank };
        assert_eq!(read("example.org"), Ok(plain(443, None)));
        assert_eq!(read("7,example.org:80"), Ok(plain(80, Some(7))));
        let job = r#"{"dip":"192.0.2.1","dp":80,"domain":"example.org","rank":3}"#;
        let address = Some("192.0.2.1".to_owned());
        assert_eq!(read(job), Ok(Host { address, ..plain(80, Some(3)) }));
        for (line, why) in [
            ("x,example.org", "invalid rank \"x\""),
            ("example.org;rm", "invalid host \"example.org;rm\""),
            ("-c", "invalid host \"-c\""),
            ("example.org:0", "invalid port \"0\""),
            ("{\"dp\":80}", "\"dip\" is missing"),
            ("{\"dip\":\"192.0.2.1\",\"dp\":65536}", "invalid port \"65536\""),
        ] {
            assert_eq!(read(line), Err(why.into()), "{line}");
        }
    }

    #[test]
    fn opt_outs_cover_subdomains_and_prefixes() {
        let mut all = OptOut::default();
        all.add_domain("example.org");
        all.networks.extend(["192.0.2.0/24", "198.51.100.7"].map(|text| prefix(text).unwrap().unwrap()));
        for (name, is_out) in [
            ("example.org", true),
            ("WWW.Example.org.", true),
            ("a.example.org", true),
            ("xexample.org", false),
        ] {
            assert_eq!(all.has_name(name), is_out, "{name}");
        }
        let addresses =
            [("192.0.2.200", true), ("192.0.3.0", false), ("198.51.100.7", true), ("198.51.100.8", false)];
        for (address, is_out) in addresses {
            assert_eq!(all.has_address(address.parse().unwrap()), is_out, "{address}");
        }
        assert_eq!(prefix("10.0.0.0/33"), Err("invalid prefix \"10.0.0.0/33\"".into()));
        assert_eq!(prefix("0.0.0.0/0"), Ok(Some((Ipv4Addr::UNSPECIFIED, 0))));
        assert_eq!(prefix("example.org"), Ok(None));
    }
}
