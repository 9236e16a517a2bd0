//! The text form.
use crate::common::SPECS;
use fathom_qdisc::{DropFrom, Limit, Spec};
use fathom_units::{Bytes, Duration, Rng};

fn parse(text: &str) -> Spec {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn texts_and_their_canonical_form() {
    let table = [
        ("fifo limit 375000b", "fifo limit 375000b"),
        ("fifo limit 64kb", "fifo limit 65536b"),
        ("fifo drop tail limit 256p", "fifo limit 256p"),
        ("fifo limit 256P drop head", "fifo limit 256p drop head"),
        ("fifo limit 100ms", "fifo limit 100ms drop head"),
        ("fifo  limit 1.5ms  drop head ", "fifo limit 1500us drop head"),
        ("codel", "codel variant rfc limit 1000p target 5ms interval 100ms noecn"),
        ("codel target 20ms ecn limit 50p", "codel variant rfc limit 50p target 20ms interval 100ms ecn"),
        (
            "codel ce_threshold 1ms variant linux",
            "codel variant linux limit 1000p target 5ms interval 100ms noecn ce_threshold 1ms",
        ),
        (
            "red limit 1000000b min 30000b max 90000b avpkt 1000b burst 55 probability 0.02 bandwidth 20mbit adaptive",
            "red variant rfc limit 1000000b min 30000b max 90000b avpkt 1000b burst 55 probability 0.02 bandwidth 20000000bit adaptive",
        ),
        (
            "red ecn variant linux limit 120000b",
            "red variant linux limit 120000b min 10000b max 30000b avpkt 1000b burst 16 probability 0.02 bandwidth 10000000bit ecn",
        ),
        ("blue", "blue limit 1000p increment 0.02 decrement 0.002 freeze 100ms noecn"),
        ("blue increment 5% ecn", "blue limit 1000p increment 0.05 decrement 0.002 freeze 100ms ecn"),
        (
            "sfb db 1s",
            "sfb limit 1000p max 25 target 20 increment 0.0005 decrement 0.00005 rehash 600s db 1s penalty_rate 10 penalty_burst 20",
        ),
        ("ebdp", "ebdp limit 400p delay 200ms extra 5"),
        ("astar extra 3", "astar limit 400p delay 200ms extra 3"),
        (
            "pie tupdate 20ms variant linux bytemode",
            "pie variant linux limit 1000p target 15ms tupdate 20ms alpha 2 beta 20 max_burst 150ms noecn mark_ecn_threshold 0.1 bytemode no_dq_rate_estimator",
        ),
        (
            "dualpi2 beta 5 variant linux",
            "dualpi2 variant linux limit 10000p target 15ms tupdate 16ms alpha 0.16 beta 5 coupling_factor 2 min_th 800us range 400us step_thresh 1ms classic_protection 0.1 drop_on_overload",
        ),
        (
            "dualpi2 overflow",
            "dualpi2 variant rfc limit 10000p target 15ms tupdate 15ms alpha 0.15 beta 3 coupling_factor 2 min_th 800us range 400us step_thresh 1ms classic_protection 0.1 overflow",
        ),
        (
            "fq_codel",
            "fq_codel variant rfc limit 10240p flows 1024 quantum 1514b memory 33554432b target 5ms interval 100ms ecn",
        ),
        (
            "fq_codel flows 16 variant linux quantum 300b target 5ms interval 100ms limit 10240p ce_threshold 2ms memory 32mb noecn",
            "fq_codel variant linux limit 10240p flows 16 quantum 300b memory 33554432b target 5ms interval 100ms noecn ce_threshold 2ms",
        ),
    ];
    for (text, written) in table {
        let spec = parse(text);
        assert_eq!(spec.to_string(), written, "{text}");
        assert_eq!(parse(written), spec, "{text}");
    }
}

#[test]
fn an_unknown_name_lists_the_known_names() {
    for (text, refusal) in [
        ("", "the queue discipline is missing (known: fifo, codel, fq_codel"),
        ("best", "unknown queue discipline \"best\" (known: fifo, codel, fq_codel"),
        ("fqcodel", "unknown queue discipline \"fqcodel\" (did you mean \"fq_codel\"? known: fifo, "),
    ] {
        let error = text.parse::<Spec>().expect_err(text).to_string();
        assert!(error.starts_with(refusal), "{error}");
    }
}

#[test]
fn errors_name_the_parameter_and_the_valid_values() {
    let table = [
        ("fifo", "fifo requires a limit (such as \"fifo limit 256p\" or \"fifo limit 64kb\")"),
        ("fifo limit", "\"limit\" needs a value"),
        (
            "fifo limit 64",
            "invalid limit \"64\" (expected an amount above 0 such as 256p, 375000b, 64kb or 100ms)",
        ),
        (
            "fifo limit 0p",
            "invalid limit \"0p\" (expected an amount above 0 such as 256p, 375000b, 64kb or 100ms)",
        ),
        (
            "fifo limit +5p",
            "invalid limit \"+5p\" (expected an amount above 0 such as 256p, 375000b, 64kb or 100ms)",
        ),
        ("fifo limit 5p drop middle", "invalid drop \"middle\" (expected head or tail)"),
        ("fifo limit 5p target 5ms", "unknown parameter \"target\" of fifo (known: limit, drop)"),
        (
            "fifo limit 100ms drop tail",
            "a fifo with a time limit drops at its head (remove \"drop tail\", or use a limit in bytes)",
        ),
        ("codel target 5", "target: duration \"5\" has no unit (did you mean \"5ms\" or \"5s\"?)"),
        ("codel target 0ms", "invalid target \"0ms\" (expected a time above 0 and at most 1 hour)"),
        (
            "codel interval 2000000s",
            "invalid interval \"2000000s\" (expected a time above 0 and at most 1 hour)",
        ),
        ("codel limit 64kb", "invalid limit \"64kb\" (expected a number of packets above 0 such as 1000p)"),
        (
            "codel quantum 5b",
            "unknown parameter \"quantum\" of codel (known: variant, limit, target, interval, ecn, noecn, ce_threshold)",
        ),
        ("red min 9000b max 3000b", "invalid max \"3000b\" (expected more than min, and min above 0)"),
        (
            "red min 30000b max 90000b burst 20",
            "invalid burst \"20\" (expected at least min / avpkt packets, and not thousands of times more)",
        ),
        (
            "red gentle variant linux",
            "invalid variant \"linux\" (expected rfc, because Linux has no gentle mode)",
        ),
        ("red probability 2", "probability: ratio \"2\" has no unit (did you mean \"2%\"?)"),
        ("pie alpha 33", "invalid alpha \"33\" (expected a whole number from 0 to 32, in sixteenths of 1/s)"),
        ("dualpi2 beta -1", "invalid beta \"-1\" (expected a number from 0 to 1000, in 1/s)"),
        ("sfb max 0", "invalid max \"0\" (expected a whole number above 0)"),
        ("codel variant bsd", "invalid variant \"bsd\" (expected rfc or linux)"),
        ("fq_codel flows 0", "invalid flows \"0\" (expected a whole number from 1 to 65536)"),
        ("fq_codel quantum 100b", "invalid quantum \"100b\" (expected 256b or more)"),
        ("fq_codel quantum 100", "quantum: size \"100\" has no unit (did you mean \"100kb\" or \"100b\"?)"),
    ];
    for (text, refusal) in table {
        let error = text.parse::<Spec>().expect_err(text);
        assert_eq!(error.to_string(), refusal, "{text}");
    }
}

#[test]
fn display_round_trips() {
    for text in SPECS {
        let spec = parse(text);
        assert_eq!(parse(&spec.to_string()), spec, "{text}");
    }
    let mut rng = Rng::new(8);
    for _ in 0..1000 {
        let limit = match rng.below(3) {
            0 => Limit::Packets(1 + rng.below(1 << 40)),
            1 => Limit::Bytes(Bytes(1 + rng.below(1 << 50))),
            _ => Limit::Sojourn(Duration::from_nanos(1 + rng.below(3_600_000_000_000))),
        };
        let Spec::Fifo(mut params) = parse("fifo limit 1p drop head") else { panic!() };
        params.limit = limit;
        if rng.chance(0.5) && !matches!(limit, Limit::Sojourn(_)) {
            params.drop_from = DropFrom::Tail;
        }
        let Spec::FqCodel(mut fq) = parse("fq_codel") else { panic!() };
        fq.control.target = Duration::from_nanos(1 + rng.below(3_600_000_000_000));
        fq.flows = 1 + rng.below(65_536) as u32;
        fq.memory = Bytes(1 + rng.below(1 << 40));
        for spec in [Spec::Fifo(params), Spec::FqCodel(fq)] {
            assert_eq!(parse(&spec.to_string()), spec);
        }
    }
}
