//! The resolvers of this host.
use std::fs::read_to_string;
use std::net::IpAddr;
use std::path::Path;

/// Those that programs ask, and those behind systemd's local one.
const FILES: [&str; 2] = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/// Their addresses.
#[must_use]
pub fn resolvers() -> Vec<IpAddr> {
    let read = |file| parse(&read_to_string(file).unwrap_or_default());
    FILES.into_iter().flat_map(read).chain(of_termux()).collect()
}

/// The resolvers of Termux on Android, which has no `/etc`: its file is below `$PREFIX`. The C
/// library of a static program does not read that file, so it resolves no names. Empty elsewhere.
#[must_use]
pub fn of_termux() -> Vec<IpAddr> {
    let prefix = std::env::var_os("PREFIX").filter(|_| !Path::new(FILES[0]).exists());
    let file = prefix.map(|prefix| Path::new(&prefix).join("etc/resolv.conf"));
    file.map(|file| parse(&read_to_string(file).unwrap_or_default())).unwrap_or_default()
}

fn parse(configuration: &str) -> Vec<IpAddr> {
    let address = |line: &str| {
        let (keyword, rest) = line.split_once(char::is_whitespace)?;
        rest.trim().parse().ok().filter(|_| keyword == "nameserver")
    };
    configuration.lines().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolvers_are_read_from_their_lines() {
        let text = "# nameserver 192.0.2.9\nsearch example.net\nnameserver 127.0.0.53\nnameserver\t2001:db8::1 \nnameserver fe80::1%eth0\noptions edns0\n";
        let expected: [IpAddr; 2] = ["127.0.0.53".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        assert_eq!(parse(text), expected);
        assert_eq!(parse(""), [] as [IpAddr; 0]);
    }
}
