//! `fathom ecn --list`: hosts behind two routers, one of which stops ECN to some of them.
use crate::ecn::answer;
use crate::program::{Ran, fathom, scratch};
use fathom_test_support::{NamespaceRow, in_new_namespace};
use serde_json::{Value as Json, json};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// The host of all addresses 10.20.0.0/16, with its number in the row.
const HOST: usize = 3;
const PORT: u16 = 8_443;
/// Lines of the list, and what must be found.
const HOSTS: [(&str, &str); 6] = [
    ("1,10.20.1.1", "altered"),
    ("2,10.20.2.1", "blocked"),
    ("3,10.20.3.1", "survives"),
    ("{\"dip\":\"10.20.3.1\",\"domain\":\"twin.example\",\"rank\":4}", "duplicate"),
    ("5,10.20.4.1:9", "port_closed"),
    ("6,nobody.invalid", "unresolved"),
];

struct Place {
    folder: PathBuf,
    _row: NamespaceRow,
}

impl Place {
    /// The row of namespaces, and a folder with the lists.
    fn new(name: &str) -> Place {
        let row = NamespaceRow::new(HOST + 1);
        for at in 0..HOST {
            row.sh(at, &format!("ip route add 10.20.0.0/16 via 10.8.{at}.2"));
        }
        row.sh(HOST, "for n in 1 2 3 4 5; do ip addr add 10.20.$n.1/32 dev lo; done");
        row.sh(
            2,
            "nft 'add table ip t; add chain ip t c { type filter hook prerouting priority -150; }'
             nft 'add rule ip t c iifname left ip daddr 10.20.1.1 ip ecn set not-ect'
             nft 'add rule ip t c iifname left ip daddr 10.20.2.1 tcp flags & (syn | ecn) == (syn | ecn) drop'",
        );
        row.enter(HOST);
        let listener = TcpListener::bind(("0.0.0.0", PORT)).unwrap();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                std::thread::spawn(move || answer(stream));
            }
        });
        row.enter(0);
        let folder = scratch().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("fathom")).unwrap();
        let lines: String = HOSTS.iter().map(|(line, _)| format!("{line}\n")).collect();
        fs::write(folder.join("list"), format!("# a list\n{lines}7,10.20.5.1\n")).unwrap();
        fs::write(folder.join("out"), "10.20.5.0/24\nexample.org\n").unwrap();
        let systems = "10.8.0.0\t10.8.255.255\t64496\tZZ\tEXAMPLE\n";
        fs::write(folder.join("fathom/ip2asn-combined.tsv"), systems).unwrap();
        Place { folder, _row: row }
    }
    fn survey(&self, more: &[&str]) -> Ran {
        let port = PORT.to_string();
        let args = ["ecn", "--list", "list", "--port", &port, "--opt-out", "out", "--rate", "100"];
        let mut command = fathom(&[&args, more].concat());
        command.env("XDG_CONFIG_HOME", &self.folder).current_dir(&self.folder).output().unwrap().into()
    }
    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }
}

/// Sorted, because either of two hosts with the same address can be tested.
fn outcomes(document: &Json) -> Vec<String> {
    let hosts = document["ecn_survey"]["hosts"].as_array().unwrap().iter();
    let mut all: Vec<String> = hosts.map(|host| host["outcome"].as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

fn expected() -> Vec<&'static str> {
    let mut all = HOSTS.map(|(_, outcome)| outcome).to_vec();
    all.sort_unstable();
    all
}

#[test]
fn each_host_of_a_list_has_its_outcome_and_is_tested_once() {
    in_new_namespace(|| {
        let place = Place::new("ecn-survey");
        let files = ["--csv", "s.csv", "--page", "s.html", "--pathspider", "s.ndjson", "--json"];
        let ran = place.survey(&files);
        let document = ran.document();
        assert_eq!(ran.code, Some(1), "{}", ran.describe());
        assert_eq!(outcomes(&document), expected(), "{}", ran.describe());
        let survey = &document["ecn_survey"];
        let facts =
            ["complete", "opted_out", "tested", "blocked", "altered"].map(|name| survey[name].clone());
        assert_eq!(Json::from_iter(facts), json!([true, 1, 3, 1, 1]), "{}", ran.describe());
        // Both hops are of the network of the table.
        let places: Vec<&Json> =
            survey["networks"].as_array().unwrap().iter().map(|network| &network["place"]).collect();
        assert_eq!(places, ["AS64496 EXAMPLE", "AS64496 EXAMPLE"], "{}", ran.describe());
        check_files(&place);
        check_resumed(&place);
        check_other_list(&place);
    });
}

/// The files of the first survey.
fn check_files(place: &Place) {
    let csv = place.read("s.csv");
    assert!(csv.lines().any(|line| line.starts_with("2,10.20.2.1,10.20.2.1,8443,")), "{csv}");
    assert!(place.read("s.html").contains("10.20.1.1"));
    let conditions: Vec<Json> = place
        .read("s.ndjson")
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap()["conditions"][0].clone())
        .collect();
    let expected = ["works", "broken", "works", "offline"].map(|name| format!("ecn.connectivity.{name}"));
    assert_eq!(conditions, expected);
}

/// A survey whose file was cut in the middle of the last line tests that host again, and no other
/// but the one without an address.
fn check_resumed(place: &Place) {
    let path = place.folder.join("ecn.jsonl");
    let whole = place.read("ecn.jsonl");
    let kept: Vec<&str> = whole.lines().filter(|line| !line.contains("\"10.20.3.1\"")).collect();
    let cut = whole.lines().find(|line| line.contains("\"survives\"")).unwrap();
    fs::write(&path, format!("{}\n{}", kept.join("\n"), &cut[..cut.len() / 2])).unwrap();
    let ran = place.survey(&["--json"]);
    assert_eq!(outcomes(&ran.document()), expected(), "{}", ran.describe());
    let after = place.read("ecn.jsonl");
    assert_eq!(after.lines().take(kept.len()).collect::<Vec<_>>(), kept, "nothing is lost");
    assert_eq!(after.lines().count(), kept.len() + 3, "twice 10.20.3.1 and nobody.invalid: {after}");
}

/// A shorter list counts its own hosts alone, and a host that opts out later is left out. Nothing
/// is tested again.
fn check_other_list(place: &Place) {
    let before = place.read("ecn.jsonl");
    fs::write(place.folder.join("list"), "10.20.1.1\n10.20.2.1\n").unwrap();
    fs::write(place.folder.join("out"), "10.20.1.0/24\n").unwrap();
    let ran = place.survey(&["--json"]);
    let document = ran.document();
    assert_eq!((ran.code, outcomes(&document)), (Some(1), vec!["blocked".to_owned()]), "{}", ran.describe());
    assert_eq!(document["ecn_survey"]["opted_out"], 1, "{}", ran.describe());
    assert_eq!(place.read("ecn.jsonl"), before);
}

fn refused(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let ran: Ran = fathom(&[&["ecn"], args].concat()).current_dir(folder).output().unwrap().into();
    (ran.code, ran.err)
}

#[test]
fn wrong_lists_are_refused_and_foreign_files_kept() {
    let folder = scratch().join("ecn-lists");
    fs::create_dir_all(&folder).unwrap();
    for (text, why) in [
        (&b"a.example\nx,b.example\n"[..], "list:2: invalid rank \"x\""),
        (b"a;b\n", "list:1: invalid host \"a;b\""),
        (b"\xff\n", "list:1: not UTF-8 text"),
        (b"# nothing\n", "list: no host"),
        (b"{\"dip\":\n", "list:1: EOF"),
    ] {
        fs::write(folder.join("list"), text).unwrap();
        let (code, error) = refused(&folder, &["--list", "list"]);
        assert!(code == Some(2) && error.contains(why), "{why}: {code:?} {error}");
    }
    fs::write(folder.join("list"), "a.example\n").unwrap();
    for foreign in ["notes\n", "notes without an end", "{\"host\":1}\n"] {
        fs::write(folder.join("notes"), foreign).unwrap();
        let (code, error) = refused(&folder, &["--list", "list", "--out", "notes"]);
        assert!(code == Some(2) && error.contains("notes:1: not a result of a survey"), "{code:?} {error}");
        assert_eq!(fs::read_to_string(folder.join("notes")).unwrap(), foreign);
    }
    for absent in [&["--list", "list", "--csv", "absent/s.csv"][..], &["--list", "absent"]] {
        let (code, error) = refused(&folder, absent);
        assert!(code == Some(2) && error.contains("absent"), "{code:?} {error}");
    }
}
