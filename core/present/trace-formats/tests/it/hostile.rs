//! Packets at random: whatever a tracer reports about them is written in the grammar of each
//! format.
use crate::golden::{Texts, gather};
use crate::grammar;
use fathom_capture::{Address, Packet, Stamps, TcpHeader, Transport};
use fathom_flow::{Flows, Sink, Times, Tracer};
use fathom_trace_formats::{Graphs, Pping, Qlog, Tstat, Xplot, tcptrace_csv};
use fathom_units::Rng;

const SEEDS: u64 = 20;
const PACKETS: u64 = 2_000;

/// SACK blocks, or nothing.
fn options(rng: &mut Rng) -> Vec<u8> {
    let mut options = vec![1, 1, 5, 18];
    (0..4).for_each(|_| options.extend(((rng.below(60_000)) as u32).to_be_bytes()));
    if rng.chance(0.3) { options } else { Vec::new() }
}

/// Of the connection, mostly.
fn number(rng: &mut Rng) -> u32 {
    if rng.chance(0.02) { rng.next_u64() as u32 } else { rng.below(60_000) as u32 }
}

/// A packet of one of three flows, with numbers that are near each other or wild.
fn packet<'a>(rng: &mut Rng, options: &'a [u8]) -> Packet<'a> {
    let (mut from, mut to) =
        ((Address::v4([192, 0, 2, 1]), 50_000 + rng.below(3) as u16), (Address::v4([203, 0, 113, 5]), 80));
    if rng.chance(0.5) {
        core::mem::swap(&mut from, &mut to);
    }
    let stamps = Stamps { value: number(rng), echo: number(rng) };
    let tcp = TcpHeader {
        source_port: from.1,
        destination_port: to.1,
        sequence: number(rng),
        acknowledgement: number(rng),
        flags: if rng.chance(0.8) { 16 } else { rng.below(512) as u16 },
        window: rng.next_u64() as u16,
        payload_bytes: if rng.chance(0.5) { 0 } else { rng.below(1449) as u32 },
        stamps: rng.chance(0.7).then_some(stamps),
        options,
        payload: &[],
    };
    Packet {
        source: from.0,
        destination: to.0,
        hop_limit: 64,
        dscp: 0,
        ecn: rng.below(4) as u8,
        identification: Some(rng.next_u64() as u16),
        ip_bytes: 40 + tcp.payload_bytes,
        wire_bytes: 54 + tcp.payload_bytes,
        transport: Transport::Tcp(tcp),
    }
}

fn traced<S: Sink>(seed: u64, sink: S) -> (Flows, S) {
    let mut rng = Rng::new(seed);
    let mut tracer = Tracer::new(sink);
    let mut at = 1_700_000_000_000_000_000;
    for frame in 1..=PACKETS {
        // The clock steps back now and then.
        at += if rng.chance(0.01) { -(rng.below(5_000_000) as i64) } else { rng.below(2_000_000) as i64 };
        // A damaged file may hold any time.
        let wild = [i64::MIN, i64::MAX, 0, -1][rng.below(4) as usize];
        let at = if seed % 2 == 1 && rng.chance(0.01) { wild } else { at };
        let options = options(&mut rng);
        tracer.packet(Times { at, frame }, &packet(&mut rng, &options));
    }
    tracer.finish()
}

#[test]
fn graphs_and_logs_match_their_grammar() {
    for seed in 0..SEEDS {
        let mut texts = Texts::new();
        traced(seed, Xplot::new(Graphs::ALL, gather(&mut texts), |_, _| true)).1.finish().map(drop).unwrap();
        assert!(texts.len() >= 8, "seed {seed}");
        texts.iter().for_each(|(name, text)| grammar::xplot(&format!("seed {seed}, {name}"), text));
        let mut logs = Texts::new();
        traced(seed, Qlog::new(gather(&mut logs), |_, _| true)).1.finish().map(drop).unwrap();
        logs.iter().for_each(|(name, text)| grammar::qlog(&format!("seed {seed}, {name}"), text));
    }
}

#[test]
fn lines_and_rows_have_all_their_fields() {
    for seed in 0..SEEDS {
        let lines = traced(seed, Pping::new(String::new())).1.finish().unwrap();
        for line in lines.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            assert_eq!(fields.len(), 7, "seed {seed}: {line}");
            assert!(fields[..6].iter().all(|field| field.parse::<f64>().is_ok()), "seed {seed}: {line}");
            assert_eq!(fields[6].split('+').count(), 2, "seed {seed}: {line}");
        }
        let (flows, mut tstat) = traced(seed, Tstat::new());
        let (mut log, mut csv) = (String::new(), String::new());
        tstat.write(&flows, &mut log).unwrap();
        tcptrace_csv(&flows, &mut csv).unwrap();
        assert!(log.lines().all(|line| line.split(' ').count() == 104), "seed {seed}");
        let rows = csv.lines().filter(|line| !line.is_empty());
        rows.for_each(|row| assert_eq!(row.split(',').count(), 148, "seed {seed}: {row}"));
    }
}
