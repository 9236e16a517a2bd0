//! Answers that are too large to be held at once, over HTTP.
use fathom_fleet_query::{Engine, EngineConfig, QueryError, Source, Span};
use fathom_fleet_view::{Fleet, Selector};
use fathom_units::WallTime;
use std::io::{BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};

const SITES: u64 = 150_000;
const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n{\"status\":\"success\",\
      \"data\":{\"resultType\":\"vector\",\"result\":[";

/// Writes the lags of both directions, of sites in no order.
fn write_lags(out: &mut impl Write) -> std::io::Result<()> {
    for number in 0..SITES {
        // A prime.
        let site = number * 7_368_787 % SITES;
        for direction in ["up", "down"] {
            let comma = if number == 0 && direction == "up" { "" } else { "," };
            let lag = if direction == "up" { 0.001 * (site % 400) as f64 } else { 0.01 };
            write!(
                out,
                "{comma}{{\"metric\":{{\"direction\":\"{direction}\",\"plan\":\"{}\",\"site\":\"s{site:06}\"}},\
                 \"value\":[1796083200.123,\"{lag}\"]}}",
                site % 8
            )?;
        }
    }
    Ok(())
}

/// Whether the request is about lags. It is read up to its last parameter.
fn is_about_lags(stream: &mut TcpStream) -> bool {
    let mut request = Vec::new();
    while !String::from_utf8_lossy(&request).contains("&time=") {
        let mut part = [0; 4_096];
        let count = stream.read(&mut part).unwrap();
        request.extend_from_slice(&part[..count]);
    }
    String::from_utf8_lossy(&request).contains("fathom_test_lag")
}

/// Asks an engine that ends the answer about lags with `end`.
fn ask(end: &'static [u8]) -> Result<Fleet, QueryError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let is_lags = is_about_lags(&mut stream);
            let mut out = BufWriter::with_capacity(1 << 16, stream);
            let _ = out.write_all(HEAD);
            if is_lags {
                // The client may have gone.
                let _ = write_lags(&mut out).and_then(|()| out.write_all(end));
            } else {
                let _ = out.write_all(b"]}}");
            }
        }
    });
    let engine = Engine::new(EngineConfig { url, ..EngineConfig::default() }).unwrap();
    let span = Span { from: WallTime(0), to: WallTime(86_400_000_000_000) };
    engine.fleet(&Selector::all(), span)
}

#[test]
fn each_site_of_a_large_answer_is_read() {
    let fleet = ask(b"]},\"warnings\":[]}").unwrap();
    assert_eq!(fleet.len() as u64, SITES);
    for (site, number) in fleet.sites().zip(0..) {
        assert_eq!(*site.name, *format!("s{number:06}"));
        assert_eq!(site.labels["plan"], (number % 8).to_string());
        assert_eq!(site.lines.up.lag_s, Some(0.001 * (number % 400) as f64));
        assert_eq!(site.lines.down.lag_s, Some(0.01));
    }
}

/// The sites before the fault are no answer.
#[test]
fn an_answer_that_ends_too_early_is_refused() {
    for (end, part) in [
        (&b""[..], "no answer of a Prometheus API: "),
        (b"]},\"status\":\"error\"}", "no answer of a Prometheus API: "),
        (b",{\"metric\":{\"site\":7},\"value\":[1,\"2\"]}]}}", "no answer of a Prometheus API: "),
        (b"]}} {", "no answer of a Prometheus API: "),
    ] {
        let refused = ask(end).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
}
