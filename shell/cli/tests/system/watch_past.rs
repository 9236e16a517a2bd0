//! Tests of the import from SmokePing, and of reports and diagnosis of the imported history.
use crate::program::{Words, fathom, run, scratch};
use crate::watch::file;
use fathom_units::{Rng, WallTime};
use std::process::Command;
use std::time::SystemTime;

const STEP_S: u64 = 300;
const DAYS: u64 = 30;
const SEED: u64 = 1;

const CONFIG: &str = "*** General ***
owner = somebody
*** Database ***
step = 300
pings = 3
*** Probes ***
+ FPing
binary = /usr/bin/fping
*** Targets ***
probe = FPing
menu = Top
title = All
+ line
menu = The line
++ far
menu = Far
title = Far
host = 192.0.2.1
";

fn rrdtool(args: &[String]) {
    let output = Command::new("rrdtool").args(args).output().expect("rrdtool is to be installed: make setup");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Three pings every five minutes: 20 ms, and 80 ms more from 20 to 24 h UTC each day.
fn database(path: &str, now_s: u64) {
    let first = now_s - DAYS * 86_400;
    let sources = ["uptime", "loss", "median", "ping1", "ping2", "ping3"];
    let mut create = vec!["create".into(), path.into(), "--start".into(), (first - STEP_S).to_string()];
    create.extend(["--step".into(), STEP_S.to_string()]);
    create.extend(sources.map(|name| format!("DS:{name}:GAUGE:600:0:U")));
    create.push(format!("RRA:AVERAGE:0.5:1:{}", DAYS * 288));
    rrdtool(&create);
    let mut rng = Rng::new(SEED);
    let mut round = |at: u64| {
        let evening = at % 86_400 >= 20 * 3_600;
        let mut ms = || 20.0 + rng.below(2_000) as f64 / 1e3 + if evening { 80.0 } else { 0.0 };
        let mut pings = [ms(), ms(), ms()].map(|ms| ms / 1e3);
        pings.sort_by(f64::total_cmp);
        format!("{at}:U:0:{}:{}:{}:{}", pings[1], pings[0], pings[1], pings[2])
    };
    let rounds: Vec<String> = (first..now_s).step_by(STEP_S as usize).map(&mut round).collect();
    for some in rounds.chunks(500) {
        let update = ["update".to_owned(), path.to_owned()].into_iter().chain(some.iter().cloned());
        rrdtool(&update.collect::<Vec<_>>());
    }
}

/// A period of the history is shown, saved and compared like the result of a test.
fn periods_are_runs(store: &str, now_s: u64) {
    let at = |days: u64| WallTime((now_s - days * 86_400) * 1_000_000_000).to_string();
    let (from, to) = (at(2), at(1));
    let report = |more: &[&str]| {
        run(&[&["report", "--watch", "line/far", "--store", store, "--since", &from, "--until", &to], more]
            .concat())
    };
    let saved = file("period.json", "");
    let shown = report(&["--json", "-o", &saved]);
    assert!(matches!(shown.code, Some(0)), "{}", shown.describe());
    let document = shown.document();
    assert_eq!(document["summary"]["phases"][0]["phase"], "watch", "{document}");
    assert_eq!(document["summary"]["latency_metric"], "icmp_rtt_s");
    assert_eq!(document["findings"][0]["kind"], "latency_variation");
    let probes = document["summary"]["phases"][0]["latency"]["probes"].as_u64().unwrap();
    assert!((850..=864).contains(&probes), "three in each round of a day: {probes}");
    let again = run(&["report", &saved]);
    assert_eq!((again.code, again.out), (Some(0), report(&[]).out));
    let days = [format!("{}..{}", at(3), at(2)), format!("{from}..{to}")];
    let compare =
        ["compare", "--watch", "line/far", "--store", store, "--period", &days[0], "--period", &days[1]];
    let compared = run(&compare);
    let rows = ["watch", "latency, median", "probes lost"];
    let has = rows.iter().all(|row| compared.out.contains(row));
    assert!(compared.code == Some(0) && has, "{}", compared.describe());

    let unknown = run(&["report", "--watch", "nobody", "--store", store]);
    assert!(unknown.code == Some(2) && unknown.err.contains("line/far"), "{}", unknown.describe());
    let one = run(&compare[..7]);
    assert!(one.code == Some(2) && one.err.contains("at least 2"), "{}", one.describe());
}

#[test]
fn the_past_of_smokeping_is_brought_over_and_diagnosed() {
    let folder = scratch().join("smokeping");
    std::fs::create_dir_all(folder.join("line")).unwrap();
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let now_s = since_1970 / STEP_S * STEP_S;
    database(folder.join("line/far.rrd").to_str().unwrap(), now_s);
    let config = file("smokeping.conf", CONFIG);
    let (rrd, toml) = (folder.to_str().unwrap(), folder.join("watch.toml"));
    let (toml, store) = (toml.to_str().unwrap(), folder.join("history"));
    let store = store.to_str().unwrap();
    let import = ["watch", "import", "smokeping", &config, "--rrd", rrd, "-o", toml, "--store", store];

    let tried = run(&[import.as_slice(), &["--dry-run"]].concat());
    assert_eq!(tried.code, Some(0), "{}", tried.describe());
    assert!(!std::path::Path::new(toml).exists() && !std::path::Path::new(store).exists());
    let brought = run(&import);
    assert_eq!(brought.code, Some(0), "{}", brought.describe());
    let checked = run(&["watch", "check", toml]);
    assert_eq!(checked.code, Some(0), "{}", checked.describe());

    let from = WallTime((now_s - 3 * 86_400) * 1_000_000_000).to_string();
    let exported = run(&["watch", "export", "--store", store, "--from", &from]);
    // Three in each round of three days. The current row is not yet complete.
    let rows = exported.out.lines().filter(|line| line.starts_with("line/far,icmp,")).count();
    assert!((2_580..=2_592).contains(&rows), "{rows} rows");
    let again = run(&import);
    assert_eq!(again.code, Some(0), "{}", again.describe());
    assert_eq!(run(&["watch", "export", "--store", store, "--from", &from]).out, exported.out);

    // With a local time zone of UTC.
    let json = fathom(&["watch", "diagnose", "--store", store, "--json"]).env("TZ", "UTC").output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(document["findings"][0]["kind"], "recurring_delay", "{document}");
    let excess_s = document["findings"][0]["parameters"]["excess_s"].as_f64().unwrap();
    assert!((0.077..0.083).contains(&excess_s), "{document}");

    periods_are_runs(store, now_s);
    let mut words = Words::of("watch-history", &scratch());
    words.run(&["watch", "diagnose", "--store", "/no/such/history"], 3);
    words.run(&["watch", "import", "smokeping", "/no/such/config"], 2);
}
