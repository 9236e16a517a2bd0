//! Each kind of workload, on lines with known results.
use crate::common::{number, plan, run, within};
use fathom_run::{Metric, PhaseKind};
use fathom_sim::Outcome;
use fathom_units::Direction;

/// 20 Mbit/s and 10 ms each way, with `queue` down.
fn over(queue: &str, workloads: &str) -> Outcome {
    let side = "rate = \"20mbit\", delay = \"10ms\"";
    run(&plan(side, &format!("{side}, queue = \"{queue}\""), workloads))
}

#[test]
fn a_transfer_takes_its_bytes_divided_by_the_rate_plus_round_trips() {
    // 5 MB of payload at 20 x 1448/1514 Mbit/s take 2.09 s, plus the RTTs of handshake and ramp.
    let workload = "[[workload]]\nkind = \"bulk\"\ndirection = \"down\"\nbytes = \"5000000b\"\n";
    let outcome = over("fifo limit 1000p", workload);
    let took = number(&outcome.run, "flow_completion_s scope bulk max");
    within(took, 2.09 + 0.04, 2.09 + 0.25);
    assert_eq!(outcome.flows[0].delivered_bytes, 5_000_000);
    assert_eq!(outcome.run.phases[1].load.as_ref().unwrap().delivered_down_bytes, 5_000_000);
}

#[test]
fn a_transfer_that_does_not_end_in_time_is_censored() {
    let workload = "[[workload]]\nkind = \"bulk\"\nbytes = \"500mb\"\n[run]\nduration = \"2s\"";
    let outcome = over("fifo limit 1000p", workload);
    assert!((number(&outcome.run, "flow_completion_s lost") - 1.0).abs() < 1e-9);
}

#[test]
fn extra_rtt_is_added_to_the_rtt_of_the_line() {
    let workload = "[[workload]]\nkind = \"bulk\"\ndirection = \"down\"\nflows = 2\nbytes = \"1mb\"\nextra_rtt = [\"0ms\", \"80ms\"]\n";
    let outcome = over("fq_codel", workload);
    let rtt = |flow: u32| number(&outcome.run, &format!("flow_rtt_s flow {flow} min"));
    within(rtt(1), 0.0201, 0.035);
    within(rtt(2), 0.1001, 0.115);
}

#[test]
fn requests_take_a_round_trip_and_their_bytes() {
    let workload = "[[workload]]\nkind = \"rpc\"\ninterval = \"100ms\"\nrequest = \"200b\"\nresponse = \"1000b\"\n[run]\nduration = \"5s\"";
    let run = over("fq_codel", workload).run;
    // 20 ms, 0.1 ms of request, 0.4 ms of response; the first opens the connection.
    within(number(&run, "request_s scope rpc min"), 0.0204, 0.0208);
    within(number(&run, "request_s scope rpc max"), 0.0404, 0.0412);
    within(number(&run, "request_s scope rpc count"), 49.0, 51.0);
    assert_eq!(run.phases[1].kind, PhaseKind::Down);
}

#[test]
fn incast_is_as_quick_as_the_line_until_the_buffer_is_too_short() {
    // Eight blocks of 64 KiB at 20 Mbit/s take 219 ms, plus 10 ms. A buffer of 3 ms loses tails.
    let workload = |queue| {
        let workload = "[[workload]]\nkind = \"incast\"\nflows = 8\nbytes = \"64kb\"\naccess_rate = \"1gbit\"\ninterval = \"2s\"\n";
        over(queue, workload).run
    };
    let wide = workload("fifo limit 1000p");
    within(number(&wide, "request_s scope incast max from 4s"), 0.219 + 0.010, 0.219 + 0.03);
    let narrow = workload("fifo limit 5p");
    // One timeout adds 200 ms.
    let worst = number(&narrow, "request_s scope incast max");
    assert!(worst > 0.229 + 0.2, "{worst}");
}

#[test]
fn adaptive_video_follows_the_line_and_stalls_when_it_is_too_slow() {
    let video = "[[workload]]\nkind = \"video\"\nrates = [\"1mbit\", \"4mbit\", \"16mbit\"]\nbuffer = \"8s\"\n[run]\nduration = \"20s\"";
    // 0.7 of 20 Mbit/s: 4 Mbit/s, after the first segment. A segment of 2 s each 2 s, and four
    // ahead.
    let wide = over("fifo limit 1000p", video).run;
    within(number(&wide, "video_rate_bits_per_second first"), 1e6, 1e6);
    within(number(&wide, "video_rate_bits_per_second last"), 4e6, 4e6);
    within(number(&wide, "video_rate_bits_per_second count"), 12.0, 14.0);
    assert!(!wide.series.iter().any(|series| series.key.metric == Metric::VideoStall));
    // 2 Mbit at 0.5 x 1448/1514 Mbit/s take 4.2 s, of which 2 s are played meanwhile.
    let side = "rate = \"500kbit\", delay = \"10ms\"";
    let narrow = run(&plan(side, side, video)).run;
    within(number(&narrow, "video_stall_s min"), 2.1, 2.4);
    within(number(&narrow, "video_stall_s count"), 3.0, 4.0);
}

#[test]
fn a_game_misses_its_deadline_behind_a_queue_that_is_longer() {
    let game = |deadline| {
        let game = format!("[[workload]]\nkind = \"game\"\ndeadline = \"{deadline}\"\n");
        let bulk = "[[workload]]\nkind = \"bulk\"\ndirection = \"down\"\nflows = 4\n";
        over("fifo limit 250kb", &format!("{game}{bulk}")).run
    };
    // The queue holds 102 ms, and 51 ms or more while four CUBIC flows fill it.
    let misses = |deadline| number(&game(deadline), "deadline_misses_ratio down p50 from 5s");
    within(misses("30ms"), 0.9, 1.0);
    within(misses("200ms"), 0.0, 0.05);
    within(number(&game("30ms"), "deadline_misses_ratio up max"), 0.0, 0.0);
}

#[test]
fn a_call_is_good_on_an_idle_line_and_bad_behind_a_full_buffer() {
    let call = "[[workload]]\nkind = \"call\"\n";
    let bulk = "[[workload]]\nkind = \"bulk\"\ndirection = \"down\"\nflows = 4\n";
    let quiet = over("fifo limit 1000p", call).run;
    within(number(&quiet, "call_mos down min"), 4.3, 4.42);
    // 10 ms, plus 214 bytes at 20 Mbit/s.
    within(number(&quiet, "packet_delay_s scope call max"), 0.010_08, 0.010_2);
    let bloated = over("fifo limit 1000p", &format!("{call}{bulk}")).run;
    assert!(number(&bloated, "call_mos down min") < 3.0);
    within(number(&bloated, "call_mos up min"), 4.2, 4.42);
    let managed = over("fq_codel", &format!("{call}{bulk}")).run;
    within(number(&managed, "call_mos down min"), 4.2, 4.42);
}

#[test]
fn updates_of_a_game_are_late_only_behind_a_full_buffer() {
    let workloads = "[[workload]]\nkind = \"game\"\n[[workload]]\nkind = \"bulk\"\ndirection = \"down\"\n";
    let late = |queue| number(&over(queue, workloads).run, "update_lateness_s down p95");
    assert!(late("fifo limit 1000p") > 0.3, "{}", late("fifo limit 1000p"));
    assert!(late("fq_codel") < 0.01, "{}", late("fq_codel"));
}

#[test]
fn key_frames_are_bursts_at_the_rate_of_the_access_link() {
    // 125 kB at 100 Mbit/s into 20: the rest waits 0.8 x 125 kB x 8 / 20 M = 40 ms, less headers.
    let workload = "[[workload]]\nkind = \"video\"\ndirection = \"down\"\nrate = \"1mbit\"\nkey_frame = \"125000b\"\nevery = \"2s\"\n\
                access_rate = \"100mbit\"\n";
    let outcome = over("fifo limit 1000p", workload);
    within(number(&outcome.run, "sojourn_s down max"), 0.038, 0.046);
    assert_eq!(outcome.counted.dropped, 0);
}

#[test]
fn segments_that_fit_arrive_in_time() {
    // 2 s of 5 Mbit/s are 1.25 MB: 0.52 s at the line's rate.
    let run = over("fq_codel", "[[workload]]\nkind = \"video\"\nrate = \"5mbit\"\n").run;
    within(number(&run, "request_s scope video p50"), 0.52, 0.75);
    within(number(&run, "request_s scope video count"), 10.0, 10.0);
}

#[test]
fn peers_come_and_go() {
    let outcome = over("fq_codel", "[[workload]]\nkind = \"swarm\"\nflows = 5\nchurn = \"1s\"\n");
    // Each of five slots has 20 lifetimes in 20 s on average.
    within(outcome.flows.len() as f64, 70.0, 140.0);
    assert!(outcome.flows.iter().all(|flow| flow.direction == Direction::Up && flow.closed.is_some()));
    assert_eq!(outcome.run.phases[1].load.as_ref().unwrap().flows_up, 5);
}

#[test]
fn marks_replace_drops_if_both_ends_support_ecn() {
    let of =
        |ecn: &str| over("fq_codel", &format!("[[workload]]\nkind = \"bulk\"\ndirection = \"down\"\n{ecn}"));
    let (with, without) = (of("ecn = true"), of(""));
    let flow = |outcome: &Outcome| (outcome.flows[0].dropped_packets, outcome.flows[0].marked_packets);
    assert!(flow(&with).0 == 0 && flow(&with).1 > 10, "{:?}", flow(&with));
    assert!(flow(&without).0 > 10 && flow(&without).1 == 0, "{:?}", flow(&without));
    let dctcp = of("congestion_control = \"dctcp\"");
    assert!(flow(&dctcp).1 > 10 * flow(&with).1, "{:?}", flow(&dctcp));
}

#[test]
fn a_backup_gives_way() {
    let workloads = "[[workload]]\nkind = \"backup\"\ndirection = \"down\"\n[[workload]]\nkind = \"bulk\"\ndirection = \"down\"\nstart = \"5s\"\n";
    let outcome = over("fifo limit 1000p", workloads);
    let goodput = |flow: u32| {
        number(&outcome.run, &format!("goodput_bits_per_second down flow {flow} mean from 13s to 23s"))
    };
    assert!(goodput(1) < 0.25 * goodput(2), "{} {}", goodput(1), goodput(2));
}

#[test]
fn an_unknown_congestion_control_is_an_error() {
    let load = "[load]\nup_flows = 1\nduration = \"1s\"\ncongestion_control = \"illinois\"\n";
    let run = over("fq_codel", load).run;
    assert!(run.notes.iter().any(|note| matches!(note, fathom_run::Note::CongestionControlNotSimulated { requested } if requested == "illinois")), "{:?}", run.notes);
}

#[test]
fn randomly_spread_senders_fit_into_a_short_buffer() {
    // Forty blocks of 14480 bytes are 400 packets: too many for 100 at once, but not when spread
    // over ten times the 242 ms that they take.
    let lost = |spread: &str| {
        let workload = format!(
            "[[workload]]\nkind = \"incast\"\nflows = 40\nbytes = \"14480b\"\ninterval = \"4s\"\n{spread}[run]\nduration = \"12s\"\n"
        );
        let outcome = over("fifo limit 100p", &workload);
        let rounds = outcome.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>() / (40 * 14480);
        let slowest = number(&outcome.run, "request_s scope incast max");
        (rounds, outcome.counted.dropped, slowest)
    };
    let (at_once, spread) = (lost(""), lost("spread = \"2420ms\"\n"));
    assert!(at_once.0 == 3 && at_once.1 > 3 * 150, "{at_once:?}");
    assert!(spread.0 == 3 && spread.1 == 0, "{spread:?}");
    // The last of forty starts at 40/41 of the spread on average, plus two or three RTTs.
    within(spread.2, 0.9 * 2.42, 2.42 + 0.1);
}

#[test]
fn paced_windows_queue_as_single_packets() {
    // A window of 62 packets fills an RTT of 37 ms. Unpaced it is sent in bursts.
    let of = |keys: &str| {
        let workload = format!(
            "[[workload]]\nkind = \"rpc\"\nflows = 1\nresponse = \"100kb\"\ninterval = \"1s\"\nextra_rtt = \"80ms\"\naccess_rate = \"1gbit\"\n{keys}"
        );
        number(&over("fifo limit 1000p", &workload).run, "sojourn_s down max")
    };
    let (plain, paced) = (of(""), of("pacing = true\n"));
    // Without pacing at least twenty packets arrive at once: 12 ms at 20 Mbit/s.
    assert!(plain > 0.012 && paced < 0.7 * plain, "{plain} and {paced}");
}

#[test]
fn the_minimum_timeout_is_that_of_the_scenario() {
    // The last packet of a block is always lost: five of eight find room. Only a timeout or probe
    // repairs it.
    let worst = |min_rto: &str| {
        let workload = format!(
            "[[workload]]\nkind = \"incast\"\nflows = 8\nbytes = \"1448b\"\naccess_rate = \"1gbit\"\ninterval = \"2s\"\nmin_rto = \"{min_rto}\"\n"
        );
        number(&over("fifo limit 5p", &workload).run, "request_s scope incast max from 4s")
    };
    let (linux, windows) = (worst("200ms"), worst("300ms"));
    within(windows - linux, 0.09, 0.11);
}

#[test]
fn each_host_of_a_workload_has_its_own_switch_port() {
    // A port with 12 of 10 Mbit/s holds half the memory, plus one packet; the other half stays
    // free.
    let cbr = |name: &str, rate: &str, host: u8| {
        format!(
            "[[workload]]\nname = \"{name}\"\nkind = \"cbr\"\ndirection = \"down\"\nrate = \"{rate}\"\nfirst_host = {host}\n"
        )
    };
    let workloads = [cbr("over", "12mbit", 0), cbr("under", "5mbit", 1)].concat();
    let down = "rate = \"1gbit\", delay = \"10ms\", overhead = \"0b\", queue = \"switch ports 2 rate 10mbit memory 100000b\"";
    let rest = format!("{workloads}[run]\nduration = \"5s\"\nsample_every = \"60min\"\n");
    let outcome = run(&plan("delay = \"10ms\"", down, &rest));
    let (over, under) = (&outcome.flows[0], &outcome.flows[1]);
    // 1500 bytes take 1.2 ms at the port and 12 us on the link.
    let delay = under.mean_delay.unwrap().as_secs_f64();
    within(delay, 0.011_212, 0.011_226);
    assert_eq!((under.dropped_packets, under.delivered_packets), (0, under.sent_packets));
    within(over.dropped_packets as f64 / over.sent_packets as f64, 0.15, 2.0 / 12.0);
    let longest =
        outcome.queues.iter().map(|queue| queue.stats.max_sojourn.as_secs_f64()).fold(0.0, f64::max);
    within(longest, 48_000.0 * 8.0 / 10e6, 52_500.0 * 8.0 / 10e6);
}
