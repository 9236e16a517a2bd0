//! `[[workload]]` and `[run]`.
use fathom_scenario::{
    APPLICATIONS, Plan, Role, ScenarioError, Spacing, WorkloadKind, WorkloadPlan, applications, parse,
    refusal,
};
use fathom_units::{Bytes, Direction, Duration};

const LINE: &str = "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"a\"\nup = { delay = \"1ms\" }\n\
                    down = { delay = \"1ms\" }\n\n\n";

fn plan(rest: &str) -> Result<Plan, ScenarioError> {
    parse(&format!("{LINE}{rest}"), "x.toml")
}
pub(crate) fn workload(keys: &str) -> WorkloadPlan {
    plan(&format!("[[workload]]\n{keys}")).unwrap_or_else(|e| panic!("{keys}: {e}")).workloads.remove(0)
}

#[test]
fn each_kind_with_its_defaults() {
    let kinds = [
        ("bulk", Direction::Up, 1),
        ("backup", Direction::Up, 1),
        ("swarm", Direction::Up, 20),
        ("web", Direction::Down, 1),
        ("rpc", Direction::Down, 1),
        ("incast", Direction::Down, 20),
        ("call", Direction::Up, 1),
        ("game", Direction::Up, 1),
    ];
    for (kind, direction, flows) in kinds {
        let workload = workload(&format!("kind = \"{kind}\""));
        assert_eq!(
            (workload.name.as_str(), workload.direction, workload.flows),
            (kind, direction, flows),
            "{kind}"
        );
        let control = if kind == "backup" { "ledbat" } else { "cubic" };
        assert_eq!(workload.transport.congestion_control, control, "{kind}");
    }
    let WorkloadKind::Datagrams { rate, size, spacing, .. } =
        workload("kind = \"poisson\"\nrate = \"9mbit\"").kind
    else {
        panic!("poisson")
    };
    assert_eq!((rate.as_bits_per_second(), size, spacing), (9_000_000, 1500, Spacing::Poisson));
}

#[test]
fn every_key_is_parsed() {
    let page = workload(
        "kind = \"web\"\nname = \"shop\"\nflows = 2\nstart = \"1s\"\nstop = \"9s\"\ncongestion_control = \"reno\"\necn = true\n\
         initial_window = 4\nwindow = \"64kb\"\nextra_rtt = [\"20ms\", \"80ms\"]\naccess_rate = \"1gbit\"\n\
         hosts = 3\nfirst_host = 5\npacing = true\nmin_rto = \"300ms\"\ndscp = \"af41\"\nconnections = 5\nshards = 2\nobjects = 7\nbytes = \"8kb\"\ninterval = \"3s\"",
    );
    let WorkloadKind::Web(web) = page.kind else { panic!("{page:?}") };
    assert_eq!((web.connections, web.shards, web.objects, web.bytes), (5, 2, 7, Bytes(8192)));
    assert_eq!(web.interval, Some(Duration::from_secs(3)));
    assert_eq!((page.name.as_str(), page.flows), ("shop", 2));
    assert_eq!((page.start, page.stop), (Duration::from_secs(1), Some(Duration::from_secs(9))));
    let tcp = page.transport;
    assert_eq!((tcp.congestion_control.as_str(), tcp.ecn), ("reno", true));
    assert_eq!((tcp.initial_window, tcp.window), (Some(4), Some(Bytes(65_536))));
    assert_eq!(page.edge.extra_rtt, [Duration::from_millis(20), Duration::from_millis(80)]);
    assert_eq!((tcp.pacing, tcp.min_rto), (true, Some(Duration::from_millis(300))));
    assert_eq!((page.edge.hosts, page.edge.first_host, page.edge.dscp), (3, 5, 34));
    assert!(page.edge.access_rate.is_some());
    let camera = workload(
        "kind = \"video\"\ndirection = \"up\"\nrate = \"6mbit\"\nkey_frame = \"2mb\"\nevery = \"30s\"",
    );
    assert!(matches!(camera.kind, WorkloadKind::Camera { size: 1400, .. }), "{camera:?}");
    assert!(matches!(workload("kind = \"video\"\nrate = \"6mbit\"").kind, WorkloadKind::Segments { .. }));
}

#[test]
fn adaptive_video_and_games_have_their_keys() {
    let video =
        workload("kind = \"video\"\nrates = [\"1mbit\", \"4mbit\"]\nevery = \"4s\"\nbuffer = \"20s\"");
    let WorkloadKind::Adaptive(plan) = video.kind else { panic!("{video:?}") };
    let rates: Vec<u64> = plan.rates.iter().map(|rate| rate.as_bits_per_second()).collect();
    assert_eq!(rates, [1_000_000, 4_000_000, 0, 0, 0, 0, 0, 0]);
    assert_eq!((plan.every, plan.buffer), (Duration::from_secs(4), Duration::from_secs(20)));
    let game = workload("kind = \"game\"\ndeadline = \"50ms\"");
    let WorkloadKind::Game { size: 200, deadline, .. } = game.kind else { panic!("{game:?}") };
    assert_eq!(deadline, Duration::from_millis(50));
}

#[test]
fn built_in_applications_run_in_a_test_and_others_are_refused() {
    let roles = [Role::Victim, Role::Load].map(|role| {
        let fits = |plan: &WorkloadPlan| refusal(plan, role).is_none();
        let all = applications(APPLICATIONS, "applications").unwrap();
        all.into_iter().filter(fits).map(|plan| plan.name).collect::<Vec<_>>().join(" ")
    });
    assert_eq!(roles, ["web web-sharded video call game", "web web-sharded video backup swarm"]);
    let page = &applications(APPLICATIONS, "applications").unwrap()[0];
    let WorkloadKind::Web(plan) = page.kind else { panic!("{page:?}") };
    assert_eq!(plan.connections * plan.shards * plan.objects, 60);
    for (keys, role, why) in [
        ("kind = \"rpc\"", Role::Victim, "cannot be measured (expected a web"),
        ("kind = \"call\"", Role::Load, "cannot be the load (expected a web"),
        ("kind = \"bulk\"\nbytes = \"1mb\"", Role::Load, "cannot be the load"),
        ("kind = \"video\"\nrate = \"1mbit\"", Role::Victim, "a video with rates"),
        ("kind = \"game\"\nsize = 60", Role::Victim, "size: invalid value 60 (expected 108 to 1500)"),
        ("kind = \"web\"\nwindow = \"64kb\"", Role::Victim, "window: not supported in a test"),
        ("kind = \"call\"\nstart = \"1s\"", Role::Victim, "start: not supported in a test"),
    ] {
        let refused = refusal(&workload(keys), role).unwrap_or_default();
        assert!(refused.contains(why), "{keys}: {refused}");
    }
    let error = applications("[[workload]]\nkind = \"call\"\n[run]\n", "a.toml").unwrap_err();
    assert!(error.to_string().starts_with("a.toml:3: unknown field `run`"), "{error}");
}

#[test]
fn errors_give_line_and_key() {
    let table = [
        (
            "kind = \"video\"\nrates = []",
            "x.toml:12: rates: expected 1 to 8 rates above 0 in ascending order",
        ),
        ("kind = \"video\"\nrates = [\"2mbit\", \"1mbit\"]", "x.toml:12: rates: expected 1 to 8"),
        (
            "kind = \"video\"\nrates = \"1mbit\"\nrate = \"1mbit\"",
            "x.toml:12: rates: not used together with rate",
        ),
        (
            "kind = \"video\"\nrates = \"1mbit\"\nbuffer = \"1s\"",
            "x.toml:12: buffer: 1s holds no segment of every = 2s",
        ),
        ("kind = \"video\"\nrate = \"1mbit\"\nbuffer = \"9s\"", "x.toml:13: buffer: used with rates only"),
        ("kind = \"torrent\"", "x.toml:11: kind: unknown workload \"torrent\" (known: bulk, swarm"),
        (
            "kind = \"bulk\"\nrate = \"1mbit\"",
            "x.toml:12: rate: a workload of kind \"bulk\" has no such key (it takes direction, bytes",
        ),
        ("kind = \"call\"\necn = true", "x.toml:12: ecn: a workload of kind \"call\" has no such key"),
        ("kind = \"cbr\"", "x.toml:11: rate: required for a workload of kind \"cbr\""),
        ("kind = \"bulk\"\nflows = 0", "x.toml:12: flows: invalid value 0 (expected 1 to 1024)"),
        ("kind = \"bulk\"\nflows = \"2\"", "x.toml:12: flows: invalid type"),
        ("kind = \"bulk\"\nbytes = \"0b\"", "x.toml:12: bytes: invalid value \"0b\""),
        ("kind = \"bulk\"\nextra_rtt = \"5\"", "x.toml:12: extra_rtt: duration \"5\" has no unit"),
        ("kind = \"bulk\"\nextra_rtt = []", "x.toml:12: extra_rtt: the list is empty"),
        ("kind = \"bulk\"\ndscp = 64", "x.toml:12: dscp: invalid value 64"),
        ("kind = \"bulk\"\ndscp = \"af44\"", "x.toml:12: dscp: invalid value \"af44\""),
        ("kind = \"bulk\"\nfrom_hop = \"b\"", "x.toml:12: from_hop: unknown hop \"b\" (known: a)"),
        (
            "kind = \"bulk\"\nhosts = 100\nfirst_host = 28",
            "x.toml:13: first_host: invalid value 28 (expected 0 to 27)",
        ),
        ("kind = \"rpc\"\nspread = \"1ms\"", "x.toml:12: spread: a workload of kind \"rpc\" has no such key"),
        ("kind = \"call\"\npacing = true", "x.toml:12: pacing: a workload of kind \"call\" has no such key"),
        ("kind = \"bulk\"\nto_hop = \"c\"", "x.toml:12: to_hop: unknown hop \"c\" (known: a)"),
        ("kind = \"bulk\"\nhosts = 128", "x.toml:12: hosts: invalid value 128 (expected 1 to 127)"),
        (
            "kind = \"bulk\"\ncongestion_control = \"bic\"",
            "x.toml:12: congestion_control: \"bic\" is unknown",
        ),
        ("kind = \"bulk\"\ndirection = \"left\"", "x.toml:12: direction: invalid value \"left\""),
        ("kind = \"bulk\"\nstart = \"5s\"\nstop = \"5s\"", "x.toml:13: stop: 5s is not after start = 5s"),
        ("kind = \"poisson\"\nrate = \"1mbit\"\nsizes = \"odd\"", "x.toml:13: sizes: expected"),
        (
            "kind = \"cbr\"\nrate = \"1mbit\"\nsize = 20",
            "x.toml:13: size: invalid value 20 (expected 28 to 65535)",
        ),
        (
            "kind = \"game\"\ninterval = \"0s\"",
            "x.toml:12: interval: invalid value 0ns (expected 1us to 1 hour)",
        ),
        (
            "kind = \"web\"\nconnections = 600\nshards = 2",
            "x.toml:11: connections: 600 to each of 2 shards are too many",
        ),
        ("kind = \"web\"\nobject = 3", "x.toml:12: unknown field `object`"),
        (
            "kind = \"call\"\n[[workload]]\nkind = \"call\"",
            "x.toml:13: name: there is already a workload \"call\"",
        ),
    ];
    for (keys, message) in table {
        let error = plan(&format!("[[workload]]\n{keys}")).expect_err(keys).to_string();
        assert!(error.starts_with(message), "{keys}: {error}");
    }
}

#[test]
fn a_part_of_the_line_is_named_by_its_hops() {
    let second = "[[hop]]\nname = \"b\"\nup = { delay = \"1ms\" }\ndown = { delay = \"1ms\" }\n";
    let of = |keys: &str| plan(&format!("{second}[[workload]]\nkind = \"bulk\"\n{keys}"));
    let hops = |keys: &str| of(keys).unwrap_or_else(|e| panic!("{keys}: {e}")).workloads[0].edge.hops;
    assert_eq!(hops(""), None);
    assert_eq!(hops("from_hop = \"b\""), Some((1, 1)));
    assert_eq!(hops("to_hop = \"a\""), Some((0, 0)));
    assert_eq!(hops("from_hop = \"a\"\nto_hop = \"b\""), Some((0, 1)));
    let error = of("from_hop = \"b\"\nto_hop = \"a\"").expect_err("b to a").to_string();
    assert!(
        error.starts_with("x.toml:17: to_hop: \"a\" is closer to the user than from_hop = \"b\""),
        "{error}"
    );
}

#[test]
fn run_duration_defaults_to_that_of_the_load() {
    let seconds = |rest: &str| plan(rest).map(|p| p.run.duration.as_secs_f64());
    assert_eq!(seconds(""), Ok(20.0));
    assert_eq!(seconds("[load]\nup_flows = 1\nduration = \"7s\""), Ok(7.0));
    assert_eq!(seconds("[run]\nduration = \"4000s\""), Ok(4000.0));
    let run = plan("[run]\nidle = \"1s\"\ndrain = \"4s\"\nseed = 5\nsample_every = \"10ms\"").unwrap().run;
    assert_eq!((run.idle, run.drain, run.seed), (Duration::from_secs(1), Duration::from_secs(4), 5));
    assert_eq!(run.sample_every, Duration::from_millis(10));
    for (keys, message) in [
        ("duration = \"0s\"", "x.toml:11: duration: invalid value 0"),
        ("duration = \"49h\"", "x.toml:11: duration: "),
        ("sample_every = \"1us\"", "x.toml:11: sample_every: invalid interval (expected at least 1ms)"),
        ("seed = -1", "x.toml:11: seed: "),
        ("length = \"1s\"", "x.toml:11: unknown field `length`"),
    ] {
        let error = plan(&format!("[run]\n{keys}")).expect_err(keys).to_string();
        assert!(error.starts_with(message), "{keys}: {error}");
    }
}
