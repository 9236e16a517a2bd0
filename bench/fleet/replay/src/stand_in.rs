//! The answers of an engine about any number of sites, over HTTP: the size of a fleet without its
//! history. The format is that of Prometheus.
use crate::{Failure, Words};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

const REGIONS: u64 = 50;
const PROVIDERS: u64 = 30;
/// Rates of the plans, in Mbit/s, and their share of the rate up.
const PLANS: [(u64, u64); 8] =
    [(16, 2), (25, 5), (50, 10), (100, 20), (100, 40), (250, 40), (500, 100), (1_000, 200)];
/// Bytes of a chunk.
const CHUNK: usize = 1 << 16;
/// Bytes of all answers.
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Answers queries of tests on `listen` until it is killed. Prints its address.
pub(crate) fn serve(words: &Words) -> Result<String, Failure> {
    let sites: u64 = words.text("sites")?.parse()?;
    let listener = TcpListener::bind(words.text("listen")?)?;
    // The port may be chosen by the system.
    std::io::stdout().write_all(format!("{{\"listen\":\"{}\"}}\n", listener.local_addr()?).as_bytes())?;
    std::io::stdout().flush()?;
    loop {
        let (stream, _) = listener.accept()?;
        std::thread::spawn(move || respond(&stream, sites));
    }
}

/// The first line of a request and its form; `None` at the end of the connection.
fn request(reader: &mut impl BufRead) -> Result<Option<(String, String)>, Failure> {
    let (mut first, mut length) = (String::new(), 0);
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some((_, number)) = line.to_lowercase().split_once("content-length:") {
            length = number.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut form = vec![0; length];
    reader.read_exact(&mut form)?;
    Ok(Some((first, String::from_utf8(form)?)))
}

/// Answers the queries of a connection. `GET` answers with the number of bytes of all answers.
fn respond(stream: &TcpStream, sites: u64) -> Result<(), Failure> {
    let mut reader = BufReader::new(stream);
    while let Some((first, form)) = request(&mut reader)? {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        (&*stream).write_all(head.as_bytes())?;
        let mut chunks = BufWriter::with_capacity(CHUNK, Chunks(stream));
        match first.split([' ', '?']).collect::<Vec<_>>().as_slice() {
            ["GET", ..] => write!(chunks, "{}", BYTES.load(Ordering::Relaxed))?,
            [_, path, ..] if path.ends_with("query_range") => trend(&mut chunks, &form)?,
            _ => vector(&mut chunks, &form, sites)?,
        }
        chunks.flush()?;
        (&*stream).write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

struct Chunks<'s>(&'s TcpStream);

impl Write for Chunks<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
        self.0.write_all(bytes)?;
        self.0.write_all(b"\r\n")?;
        BYTES.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// A number from 0 to 1 that a site always has.
fn draw(site: u64, what: u64) -> f64 {
    let mut state = (site ^ (what << 40)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state >> 11) as f64 / (1u64 << 53) as f64
}

/// The median of a site. Every other site is better since `is_before`.
fn value(name: &str, site: u64, direction: &str, is_before: bool) -> f64 {
    let (down, up) = PLANS[(draw(site, 1) * PLANS.len() as f64) as usize];
    let is_up = direction == "up";
    let mbits = if is_up { up } else { down } as f64 * (0.7 + 0.3 * draw(site, 2 + u64::from(is_up)));
    // A third of the lines has a queue of 0.2 s and more.
    let delay = 10f64.powf(-2.2 + 2.2 * draw(site, 4 + u64::from(is_up)));
    let delay = if is_before && site.is_multiple_of(2) { delay * 3.0 } else { delay };
    match name {
        "lag" => delay,
        "rate" => mbits * 1e6,
        "buffer" => mbits * 1e6 / 8.0 * delay,
        "idle" => 0.005 + 0.03 * draw(site, 6),
        _ => 28.0,
    }
}

/// The answer to an instant query: sites in no order, as those of an engine are.
fn vector(out: &mut impl Write, form: &str, sites: u64) -> Result<(), Failure> {
    let (name, directions): (&str, &[&str]) = match form {
        _ if form.contains("count_over_time") => ("count", &[""]),
        _ if form.contains("fathom_test_lag") => ("lag", &["up", "down"]),
        _ if form.contains("fathom_test_buffer") => ("buffer", &["up", "down"]),
        _ if form.contains("fathom_test_idle") => ("idle", &[""]),
        _ if form.contains("fathom_test") => ("rate", &["up", "down"]),
        // What sites sent at all.
        _ => ("known", &[""]),
    };
    let before = form.split_once("time=").and_then(|(_, time)| time.get(..10)?.parse::<u64>().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    let is_before = before.is_some_and(|at| at + 3_600 < now);
    out.write_all(b"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[")?;
    for number in 0..sites {
        // A prime that divides no number of sites of the benchmark visits all of them.
        let site = (number * 7_368_787) % sites;
        let provider = (PROVIDERS as f64 * draw(site, 7).powi(2)) as u64;
        let (down, up) = PLANS[(draw(site, 1) * PLANS.len() as f64) as usize];
        let region = site % REGIONS;
        for direction in directions {
            let comma = if number == 0 && *direction == directions[0] { "" } else { "," };
            let way =
                if direction.is_empty() { String::new() } else { format!("\"direction\":\"{direction}\",") };
            let value = value(name, site, direction, is_before);
            write!(
                out,
                "{comma}{{\"metric\":{{{way}\"plan\":\"{down}/{up}\",\"provider\":\"Provider {provider}\",\
                 \"region\":\"region {region}\",\"site\":\"site-{site:07}\"}},\"value\":[1796083200.123,\"{value}\"]}}"
            )?;
        }
    }
    Ok(out.write_all(b"]}}")?)
}

/// The answer to a range query of all sites: one series of each region.
fn trend(out: &mut impl Write, form: &str) -> Result<(), Failure> {
    let is_count = form.contains("query=count");
    let start = form.split_once("start=").and_then(|(_, time)| time.get(..10)?.parse::<u64>().ok());
    let start = start.ok_or("a range without a start")?;
    out.write_all(b"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[")?;
    for region in 0..REGIONS {
        let comma = if region == 0 { "" } else { "," };
        write!(out, "{comma}{{\"metric\":{{\"region\":\"region {region}\"}},\"values\":[")?;
        for day in 0..7 {
            let before = if day == 0 { "" } else { "," };
            let number = if is_count { 1_000.0 } else { 0.1 + 0.01 * draw(region, day) };
            write!(out, "{before}[{},\"{number}\"]", start + day * 86_400)?;
        }
        out.write_all(b"]}")?;
    }
    Ok(out.write_all(b"]}}")?)
}
