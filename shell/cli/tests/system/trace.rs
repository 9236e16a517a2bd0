//! Tests of `fathom trace`.
use crate::program::{Ran, Words, fathom, run, scratch};
use fathom_capture::{
    Address, Frame, LinkType, NotIp, Packet, Transport, dissect, pcap_header, pcap_record_header,
};
use fathom_capture_source::FrameSource;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Asserts the exit code.
#[track_caller]
fn ends(ran: &Ran, code: i32) {
    assert_eq!(ran.code, Some(code), "{}", ran.describe());
    assert!(!ran.err.contains("panicked"), "{}", ran.describe());
}

/// The queues in the output of `--json`.
fn queues(run: &serde_json::Value) -> &[serde_json::Value] {
    run["capture"]["queues"].as_array().map_or(&[], |queues| queues)
}

/// The directory with captures of the lab. Their ground truth is in its `truth.txt`.
fn captured() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trace/lab").canonicalize().unwrap()
}

fn lab(name: &str) -> String {
    captured().join(name).display().to_string()
}

fn folder(name: &str) -> PathBuf {
    let path = scratch().join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The verdict as one line.
fn headline(ran: &Ran) -> String {
    let verdict = ran.out.split("\n\nWhat to do").next().unwrap_or_default();
    verdict.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_capture_gives_a_verdict() {
    let mut words = Words::of("trace", &captured());
    words.run(&["trace", "up-sender.pcap.gz"], 1);
    // At the receiver of a download, sequence numbers show no queue.
    words.run(&["trace", "down-receiver.pcap.gz"], 1);
    words.run(&["trace", "no-timestamps-sender.pcap.gz"], 1);
    words.run(&["trace", "fq_codel-sender.pcap.gz"], 0);
}

#[test]
fn every_form_of_a_result() {
    let folder = folder("trace-forms");
    let path = |name: &str| folder.join(name).display().to_string();
    let exports: Vec<String> =
        [("xplot", "xpl"), ("tcptrace", "t.csv"), ("tstat", "t.log"), ("pping", "p.txt"), ("qlog", "qlog")]
            .map(|(form, name)| format!("--export={form}={}", path(name)))
            .into();
    let (capture, page, json) = (lab("up-sender.pcap.gz"), path("a.html"), path("a.json"));
    let mut args = vec!["trace", capture.as_str(), "-o", page.as_str(), "-o", json.as_str()];
    args.extend(exports.iter().map(String::as_str));
    ends(&run(&args), 1);
    for name in ["a.html", "a.json", "t.csv", "t.log", "p.txt", "xpl/a2b_tsg.xpl"] {
        assert!(std::fs::metadata(folder.join(name)).is_ok_and(|file| file.len() > 100), "{name}");
    }
    assert!(std::fs::read_dir(folder.join("qlog")).unwrap().count() > 0);
    // The file is a normal result, with the same text.
    let again = run(&["report", &json]);
    ends(&again, 1);
    assert_eq!(headline(&again), headline(&run(&["trace", &capture])));
}

/// All captures of the repository.
fn captures() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = std::fs::read_dir(root.join("testdata/trace")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let packed = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gz" || ending == "xz");
    files.map(|file| file.unwrap().path()).filter(packed).collect()
}

/// Replaces addresses, with or without a port.
fn nameless(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| "(),.;".contains(c));
        let port = bare.rsplit_once(':').filter(|(host, _)| host.contains('.') || host.ends_with(']'));
        let host = port.map_or(bare, |(host, _)| host).trim_matches(['[', ']']);
        if host.parse::<std::net::IpAddr>().is_ok() { word.replace(host, "HOST") } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The output for a capture without names and times.
fn diagnosis_of(path: &str) -> (serde_json::Value, String) {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                // Copies of captures on Ethernet have no link layer, which shows the last three.
                let left_out =
                    ["name", "title", "started", "host", "source", "broadcast", "multicast", "vlans"];
                members.retain(|name, _| !left_out.contains(&name.as_str()));
                members.values_mut().for_each(strip);
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(strip),
            serde_json::Value::String(text) => *text = nameless(text),
            _ => {}
        }
    }
    let mut json = run(&["trace", path, "--json"]).document();
    strip(&mut json);
    let words = run(&["trace", path, "-v"]).out;
    let verdict = words.split_whitespace().collect::<Vec<_>>().join(" ");
    // The widths of tables and charts depend on the names; their values are in the result.
    let findings = verdict.split(" What to do ").next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    (json, nameless(&findings.replace(path, "FILE").replace(name, "FILE")))
}

/// The run for these arguments.
fn diagnosis_of_args(args: &[&str]) -> serde_json::Value {
    let all = [&["trace", "--json"], args].concat();
    run(&all).document()
}

#[test]
fn an_anonymous_copy_gives_the_same_diagnosis() {
    let copy = folder("trace-anonymous").join("copy.pcap").display().to_string();
    for capture in captures() {
        let capture = capture.display().to_string();
        ends(&run(&["trace", &capture, "--anonymize", &copy]), 0);
        let (mut before, mut after) = (diagnosis_of(&capture), diagnosis_of(&copy));
        assert!(before.1.len() > 100 && before.1 == after.1, "{capture}: {}\n{}", before.1, after.1);
        for part in ["capture", "series", "notes", "facts"] {
            let (was, is) = (before.0[part].take(), after.0[part].take());
            assert!(was == is, "{capture}: {part}: {was:.2000}\n{is:.2000}");
        }
        assert_eq!(before.0, after.0, "{capture}");
        let frames = std::fs::read(&copy).unwrap();
        let kept = frames.windows(4).any(|bytes| bytes == [10, 7, 0, 1]);
        assert!(!kept, "{capture}: an address of the bloated upload");
    }
}

/// A capture with selected packets of another one.
fn part_of(
    capture: &str,
    name: &str,
    is_wanted: impl Fn(&Frame<'_>, Result<Packet<'_>, NotIp>) -> bool,
) -> String {
    let mut bytes = Vec::new();
    let mut link = LinkType::ETHERNET;
    let mut capture = FrameSource::open(Path::new(capture)).unwrap();
    let each = |_, frame: &Frame<'_>| {
        link = frame.link;
        if is_wanted(frame, dissect(frame.link, frame.original_len, frame.bytes)) {
            bytes.extend(pcap_record_header(frame.at, frame.original_len, frame.bytes.len() as u32));
            bytes.extend(frame.bytes);
        }
        ControlFlow::Continue(())
    };
    capture.for_each(each).unwrap();
    let path = folder(&format!("trace-part-{name}")).join("part.pcap");
    std::fs::write(&path, [&pcap_header(link)[..], &bytes].concat()).unwrap();
    path.display().to_string()
}

/// A capture as on all interfaces of a router: each packet twice, the second 50 us later with a
/// lower TTL.
#[test]
fn packets_that_are_there_twice_count_once() {
    let mut records = Vec::new();
    let mut capture = FrameSource::open(Path::new(&lab("up-receiver.pcap.gz"))).unwrap();
    let each = |_, frame: &Frame<'_>| {
        let mut forwarded = frame.bytes.to_vec();
        forwarded[8] -= 1;
        records.push((frame.at, frame.original_len, frame.bytes.to_vec()));
        records.push((frame.at + 50_000, frame.original_len, forwarded));
        ControlFlow::Continue(())
    };
    capture.for_each(each).unwrap();
    records.sort_by_key(|record| record.0);
    let bytes = records.iter().flat_map(|(at, original_len, bytes)| {
        [&pcap_record_header(*at, *original_len, bytes.len() as u32)[..], bytes].concat()
    });
    let twice = folder("trace-twice").join("twice.pcap");
    std::fs::write(&twice, pcap_header(LinkType::RAW).into_iter().chain(bytes).collect::<Vec<_>>()).unwrap();
    let ran = Words::of("trace-twice", twice.parent().unwrap()).run(&["trace", "twice.pcap"], 1);
    // All except the frame numbers and the delay of the second copy.
    assert_eq!(headline(&ran), headline(&run(&["trace", &lab("up-receiver.pcap.gz")])));
}

/// A capture of a router without a clock battery: it starts in 1970, and the clock is set after a
/// second.
#[test]
fn a_clock_that_is_set_meanwhile_hides_no_queue() {
    let mut records = Vec::new();
    let mut capture = FrameSource::open(Path::new(&lab("up-sender.pcap.gz"))).unwrap();
    let mut first = None;
    let each = |_, frame: &Frame<'_>| {
        let since = frame.at - *first.get_or_insert(frame.at);
        let at = if since < 1_000_000_000 { since } else { frame.at };
        records.extend(pcap_record_header(at, frame.original_len, frame.bytes.len() as u32));
        records.extend(frame.bytes);
        ControlFlow::Continue(())
    };
    capture.for_each(each).unwrap();
    let set = folder("trace-set").join("set.pcap");
    std::fs::write(&set, [&pcap_header(LinkType::RAW)[..], &records].concat()).unwrap();
    let mut words = Words::of("trace-clock", set.parent().unwrap());
    words.run(&["trace", "set.pcap", "-o", "set.json"], 1);
    let ran = words.run(&["report", "set.json"], 1);
    assert_eq!(headline(&ran), headline(&run(&["trace", &lab("up-sender.pcap.gz")])));
}

#[test]
fn small_captures_report_what_they_contain() {
    let all = lab("../nat/inside.pcap.gz");
    part_of(&all, "empty", |_, _| false);
    part_of(&all, "arp", |_, found| found.is_err());
    part_of(&all, "udp", |_, found| found.is_ok_and(|p| matches!(p.transport, Transport::Udp(_))));
    part_of(&all, "syn", |_, found| {
        found.is_ok_and(
            |p| matches!(p.transport, Transport::Tcp(tcp) if tcp.flags == 2 && p.source.bits() & 1 == 0),
        )
    });
    let mut words = Words::of("trace-little", &scratch());
    for name in ["empty", "arp", "udp", "syn"] {
        words.run(&["trace", &format!("trace-part-{name}/part.pcap")], 5);
    }
}

#[test]
fn a_capture_of_one_direction_is_reported_as_such() {
    let mut words = Words::of("trace-one-way", &scratch());
    for (name, sender, code) in [("one-way-data", [198, 18, 0, 2], 1), ("one-way-acks", [198, 19, 0, 2], 5)] {
        part_of(&lab("up-receiver.pcap.gz"), name, |_, found| {
            found.is_ok_and(|packet| packet.source == Address::v4(sender))
        });
        words.run(&["trace", &format!("trace-part-{name}/part.pcap")], code);
    }
}

#[test]
fn two_captures_show_the_path_between_them() {
    let mut words = Words::of("trace-path", &captured());
    words.run(&["trace", "up-sender.pcap.gz", "up-receiver.pcap.gz"], 1);
    words.run(&["trace", "up-sender.pcap.gz", "down-receiver.pcap.gz"], 2);
}

/// Captures before and after NAT with other ports (masquerade).
#[test]
fn two_captures_show_the_path_between_them_across_a_nat() {
    let folder = lab("../nat");
    let truth = std::fs::read_to_string(format!("{folder}/truth.txt")).unwrap();
    let row: Vec<&str> = truth.lines().last().unwrap().split_whitespace().collect();
    let ran =
        run(&["trace", &format!("{folder}/inside.pcap.gz"), &format!("{folder}/outside.pcap.gz"), "--json"]);
    let json = ran.document();
    let hops = &json["capture"]["hops"];
    for hop in hops.as_array().unwrap() {
        assert_eq!((hop["lost_packets"].as_u64(), hop["routers"].as_i64()), (Some(0), Some(1)), "{hop}");
        assert_eq!(hop["translated_flows"].to_string(), row[0], "{hop}");
        assert_eq!(hop["appeared_packets"].as_u64(), Some(0), "{hop}");
    }
    assert_eq!(hops[1]["matched_packets"].to_string(), row[2]);
    let mut words = Words::of("trace-nat", Path::new(&folder));
    words.run(&["trace", "outside.pcap.gz", "inside.pcap.gz"], 5);
}

#[test]
fn standard_input_is_read() {
    let file = std::fs::File::open(lab("up-sender.pcap.gz")).unwrap();
    let ran: Ran = fathom(&["trace", "-"]).stdin(Stdio::from(file)).output().unwrap().into();
    let mut words = Words::of("trace-stdin", &captured());
    words.add("fathom trace - < up-sender.pcap.gz", &ran, 1);
    words.run(&["trace", "-", "-o", "x.html"], 2);
    let first = std::fs::File::open(lab("up-sender.pcap.gz")).unwrap();
    let args = ["trace", "-", &lab("up-receiver.pcap.gz")];
    let path: Ran = fathom(&args).stdin(Stdio::from(first)).output().unwrap().into();
    words.add("fathom trace - up-receiver.pcap.gz < up-sender.pcap.gz", &path, 1);
    words.run(&["trace", "-", "-"], 2);
    words.run(&["trace", "-", "/nonexistent.pcap"], 2);
}

/// Reads with one thread, two threads, and two threads from a pipe.
#[test]
fn the_result_does_not_depend_on_threads() {
    for capture in captures().iter().map(|path| path.display().to_string()) {
        let alone = diagnosis_of_args(&[&capture, "--threads", "1"]);
        assert_eq!(diagnosis_of_args(&[&capture, "--threads", "2"]), alone, "{capture}");
        assert_eq!(diagnosis_of_args(&[&capture]), alone, "{capture}");
        let file = std::fs::File::open(&capture).unwrap();
        let piped: Ran = fathom(&["trace", "-"]).stdin(Stdio::from(file)).output().unwrap().into();
        assert_eq!(headline(&piped), headline(&run(&["trace", &capture])), "{capture}");
    }
    let cut = folder("trace-threads").join("cut.pcap.gz");
    let whole = std::fs::read(lab("up-sender.pcap.gz")).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for threads in ["1", "2"] {
        let args = ["trace", &cut.display().to_string(), "--threads", threads, "--json"];
        let ran = run(&args);
        ends(&ran, 3);
        assert_eq!(ran.document()["partial"]["kind"], "capture_unreadable");
        assert_eq!(queues(&ran.document()).len(), 1, "{}", ran.describe());
    }
    ends(&run(&["trace", &lab("up-sender.pcap.gz"), "--threads", "3"]), 2);
}

#[test]
fn a_capture_is_not_written_over() {
    let folder = folder("trace-over");
    let path = |name: &str| folder.join(name).display().to_string();
    let (own, same) = (path("own.pcap.gz"), path("./own.pcap.gz"));
    std::fs::copy(lab("up-sender.pcap.gz"), &own).unwrap();
    let export = format!("--export=pping={same}");
    for args in [["--anonymize", same.as_str()].as_slice(), &[export.as_str()]] {
        ends(&run(&[&["trace", own.as_str()], args].concat()), 2);
    }
    assert_eq!(std::fs::read(&own).unwrap(), std::fs::read(lab("up-sender.pcap.gz")).unwrap());
    // A file that is not a capture is not copied.
    let (text, copy) = (path("text"), path("copy.pcap"));
    std::fs::write(&text, "no capture\n").unwrap();
    ends(&run(&["trace", &text, "--anonymize", &copy]), 2);
    assert!(!folder.join("copy.pcap").exists());
}

#[test]
fn errors_of_a_trace() {
    let folder = folder("trace-bad");
    let file = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    let whole = std::fs::read(lab("up-sender.pcap.gz")).unwrap();
    file("empty", b"");
    file("text", b"No. Time Source Destination Protocol\n1 0.0 a b TCP\n");
    file("good.pcap.gz", &whole);
    file("cut.pcap.gz", &whole[..whole.len() * 9 / 10]);
    let mut words = Words::of("trace-refusals", &folder);
    words.run(&["trace", "empty"], 2);
    words.run(&["trace", "text"], 2);
    words.run(&["trace", "."], 2);
    words.run(&["trace", "/nonexistent.pcap"], 2);
    words.run(&["trace", "--interface", "nosuch0"], 3);
    words.run(&["trace", "good.pcap.gz", "--duration", "1s"], 2);
    words.run(&["trace", "good.pcap.gz", "-o", "x.html", "--flow", "99"], 2);
    words.run(&["trace", "x.pcap", "--export", "gnuplot=x"], 2);
    // The data before the damage is used.
    words.run(&["trace", "cut.pcap.gz"], 3);
    words.run(&["trace", "cut.pcap.gz", "--anonymize", "copy.pcap"], 3);
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&*whole).read_to_end(&mut plain).unwrap();
    file("header.pcap", &plain[..24]);
    words.run(&["trace", "header.pcap", "-q"], 5);
    words.run(&["trace", "header.pcap", "--anonymize", "copy.pcap"], 5);
    file("damaged.pcap", &[&plain[..30_000], &[0xff; 10_000]].concat());
    words.run(&["trace", "damaged.pcap", "-q"], 3);
    // The result is printed anyway.
    let printed = run(&["trace", &lab("up-sender.pcap.gz")]);
    for (form, path) in [("xplot", "/proc/nope"), ("pping", "/nonexistent/p"), ("tcptrace", "/dev/full")] {
        let ran = run(&["trace", &lab("up-sender.pcap.gz"), &format!("--export={form}={path}")]);
        ends(&ran, 3);
        assert!(ran.out == printed.out && ran.err.contains(path), "{}", ran.describe());
    }
}
