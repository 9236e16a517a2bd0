//! Names of routers, and whose they are.
use crate::AppError;
use crate::test::Settings;
use fathom_os::names::host_name;
use fathom_run::{AutonomousSystem, Hop, Path};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Longest wait for names at the end: a resolver on the network answers faster, and one that does
/// not answer must not delay the result.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Most hops whose names are looked up: each takes a thread. No path has so many.
const MOST_NAMES: usize = 100;

/// Looks up the names of addresses, each once, in the background.
pub struct HopNames {
    asked: BTreeSet<IpAddr>,
    found: BTreeMap<IpAddr, Option<String>>,
    outbox: Sender<(IpAddr, Option<String>)>,
    inbox: Receiver<(IpAddr, Option<String>)>,
}

impl Default for HopNames {
    fn default() -> Self {
        let (outbox, inbox) = channel();
        HopNames { asked: BTreeSet::new(), found: BTreeMap::new(), outbox, inbox }
    }
}

impl HopNames {
    fn ask(&mut self, address: IpAddr) {
        if self.asked.insert(address) {
            let outbox = self.outbox.clone();
            // It may wait for a resolver that does not answer, until the program ends.
            std::thread::spawn(move || drop(outbox.send((address, host_name(address).ok().flatten()))));
        }
    }
    /// The name of an address, if it is known by now. The first call asks the resolver.
    pub fn of(&mut self, address: IpAddr) -> Option<&str> {
        self.ask(address);
        self.found.extend(self.inbox.try_iter());
        self.found.get(&address)?.as_deref()
    }
    /// Waits until all that were asked for are known, or the resolver takes too long.
    fn wait(&mut self) {
        let end = Instant::now() + LONGEST_WAIT;
        while self.found.len() < self.asked.len() {
            let Ok(one) = self.inbox.recv_timeout(end.saturating_duration_since(Instant::now())) else {
                return;
            };
            self.found.extend([one]);
        }
    }
    fn add_to(&mut self, path: &mut Path) {
        let address = |hop: &Hop| hop.address.parse::<IpAddr>().ok();
        let hops = path.hops.iter().chain(&path.return_path).take(MOST_NAMES);
        hops.filter_map(address).for_each(|one| self.ask(one));
        self.wait();
        for hop in path.hops.iter_mut().chain(&mut path.return_path).take(MOST_NAMES) {
            hop.name = address(hop).and_then(|one| self.of(one)).map(str::to_owned);
        }
    }
}

/// Adds to the hops of a path their names and, if the user has a table of autonomous systems, whose
/// they are.
///
/// # Errors
/// If the table cannot be read. The names are there anyway.
pub fn describe(path: &mut Path, names: &mut HopNames, settings: Option<&Settings>) -> Result<(), AppError> {
    names.add_to(path);
    let Some(table) = settings.map(Settings::systems_file).filter(|table| table.exists()) else {
        return Ok(());
    };
    add_systems(path, &table).map_err(|source| AppError::Settings { path: table, source })
}

/// The table is in the format of iptoasn.com: first and last address, number, country and name,
/// separated by tabs.
fn add_systems(path: &mut Path, table: &std::path::Path) -> io::Result<()> {
    let mut hops: BTreeMap<IpAddr, Vec<&mut Hop>> = BTreeMap::new();
    for hop in path.hops.iter_mut().chain(&mut path.return_path) {
        if let Ok(address) = hop.address.parse() {
            hops.entry(address).or_default().push(hop);
        }
    }
    for line in BufReader::new(File::open(table)?).lines() {
        let Some((first, last, system)) = entry(&line?) else { continue };
        for hop in hops.range_mut(first..=last).flat_map(|(_, hops)| hops) {
            hop.autonomous_system = Some(system.clone());
        }
    }
    Ok(())
}

/// An entry of the table; number 0 means that nobody announces the addresses.
fn entry(line: &str) -> Option<(IpAddr, IpAddr, AutonomousSystem)> {
    let mut fields = line.split('\t');
    let (first, last): (IpAddr, IpAddr) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    if first > last {
        return None;
    }
    let number = fields.next()?.parse().ok().filter(|number| *number > 0)?;
    let name = fields.nth(1)?.trim().to_owned();
    Some((first, last, AutonomousSystem { number, name }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_table() {
        let line = "198.51.100.0\t198.51.100.255\t64496\tZZ\tEXAMPLE-AS Example Networks";
        let (first, last, system) = entry(line).unwrap();
        assert_eq!((first.to_string(), last.to_string()), ("198.51.100.0".into(), "198.51.100.255".into()));
        assert_eq!(system.to_string(), "AS64496 EXAMPLE-AS Example Networks");
        for bad in [
            "",
            "198.51.100.0",
            "a\tb\t1\tZZ\tx",
            "10.0.0.0\t10.255.255.255\t0\tNone\tNot routed",
            "10.0.0.9\t10.0.0.1\t1\tZZ\tx",
        ] {
            assert_eq!(entry(bad), None, "{bad}");
        }
    }

    /// A table next to the settings; an unreadable one is an error, and the names are there.
    #[test]
    fn hops_get_their_names_and_systems() {
        let hop = |number, address: &str| Hop {
            number,
            address: address.to_owned(),
            flow_address: None,
            other_address: None,
            name: None,
            autonomous_system: None,
            return_hops: None,
        };
        let hops = vec![hop(1, "127.0.0.1"), hop(2, "2001:db8::7"), hop(3, "192.0.2.1")];
        let mut path = Path { hops, return_path: vec![hop(1, "127.0.0.2")], ..Path::default() };
        let folder = std::env::temp_dir().join(format!("fathom-hops-{}", std::process::id()));
        let settings = Settings::at(folder.clone());
        std::fs::create_dir_all(&folder).unwrap();
        let table =
            "127.0.0.0\t127.255.255.255\t64496\tZZ\tLOOP\n2001:db8::\t2001:db8::ffff\t64497\tZZ\tDOCS\n";
        std::fs::write(settings.systems_file(), table).unwrap();
        describe(&mut path, &mut HopNames::default(), Some(&settings)).unwrap();
        let systems = path.hops.iter().map(|one| one.autonomous_system.as_ref().map(|system| system.number));
        assert_eq!(path.hops[0].name.as_deref(), Some("localhost"));
        assert!(systems.eq([Some(64_496), Some(64_497), None]));
        assert!(path.return_path[0].autonomous_system.is_some());
        // A folder in its place cannot be read.
        std::fs::remove_file(settings.systems_file()).unwrap();
        std::fs::create_dir(settings.systems_file()).unwrap();
        let error = describe(&mut path, &mut HopNames::default(), Some(&settings)).unwrap_err();
        assert!(error.to_string().contains("ip2asn-combined.tsv"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
