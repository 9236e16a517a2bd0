//! The routers on the path of a site, through this test's own namespaces, in Prometheus.
use crate::fleet::Prometheus;
use crate::program::{scratch, until};
use crate::watch::{Watch, file};
use fathom_test_support::{NamespaceRow, in_new_namespace};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

#[test]
fn a_site_reports_its_public_routers_and_no_others() {
    in_new_namespace(|| {
        let row = NamespaceRow::new(3);
        for n in 0..3 {
            row.sh(n, "sysctl -qw net.ipv4.icmp_ratelimit=0");
        }
        // The first router has a public address, and the end a local one.
        row.sh(1, "ip addr del 10.8.0.2/24 dev left; ip addr add 192.0.2.2/24 dev left");
        row.sh(2, "ip route add 192.0.2.0/24 via 10.8.1.1");
        row.sh(
            0,
            "ip addr add 192.0.2.1/24 dev right; ip route replace 10.8.1.0/24 via 192.0.2.2 src 192.0.2.1",
        );
        row.enter(0);
        let folder = scratch().join("hops");
        std::fs::create_dir_all(&folder).unwrap();
        let prometheus = Prometheus::start(&folder);
        let config = file(
            "hops.toml",
            &format!(
                "[watch]\nstore = '{}'\nlisten = '127.0.0.1:0'\n[site]\nname = 'home-17'\n\
                 [[target]]\nname = 'far'\nhost = '10.8.1.2'\nprobe = 'hops'\nmax_hops = 4\n\
                 interval = '500ms'\ntimeout = '1s'\n\
                 [[push]]\nkind = 'remote_write'\nversion = '1.0'\ninterval = '1s'\n\
                 url = '{}/api/v1/write'\n",
                folder.join("store").display(),
                prometheus.url
            ),
        );
        let watch = Watch::start(&["watch", &config]);
        watch.wait_for_line("page: ");
        let query = |promql: &str| -> Vec<Value> {
            let url = format!("{}/api/v1/query", prometheus.url);
            let data = format!("query={promql}");
            let ran = Command::new("curl").args(["-s", "-G", &url, "--data-urlencode", &data]).output();
            let json: Value = serde_json::from_slice(&ran.unwrap().stdout).unwrap_or_default();
            json["data"]["result"].as_array().cloned().unwrap_or_default()
        };
        let enough =
            || Some(query("count_over_time(fathom_hop_info[1h]) >= 3")).filter(|all| !all.is_empty());
        until("the routers", Duration::from_secs(90), enough);
        let delays = query("last_over_time(fathom_probes_total{outcome='answered'}[1h]) >= 3");
        assert_eq!(delays.len(), 2, "both hops answer: {delays:?}");
        let all = query("last_over_time(fathom_hop_info[1h])");
        assert_eq!(all.len(), 1, "{all:?}");
        let metric = &all[0]["metric"];
        assert_eq!((&metric["target"], &metric["probe"]), (&"far".into(), &"hop 1".into()));
        assert_eq!((&metric["address"], &metric["site"]), (&"192.0.2.2".into(), &"home-17".into()));
        assert_eq!(watch.end(), Some(0));
    });
}
