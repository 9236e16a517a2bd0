//! `fathom trace` as a user runs it.
use crate::program::{Ran, fathom, run, scratch};
use fathom_capture::{
    Address, Frame, LinkType, NotIp, Packet, Transport, dissect, pcap_header, pcap_record_header,
};
use fathom_capture_source::Tap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn told(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}", ran.told());
    // Lines are broken where the terminal ends.
    let all = format!("{} {}", ran.out, ran.err).split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(all.contains(word.trim()), "\"{word}\" missing: {}", ran.told());
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.told());
}

/// A capture of the lab, whose truth is in `truth.txt` beside it.
fn lab(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trace/lab").join(name);
    path.display().to_string()
}

fn folder(name: &str) -> PathBuf {
    let path = scratch().join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The last paragraph, in one line.
fn headline(ran: &Ran) -> String {
    ran.out.trim_end().rsplit("\n\n").next().unwrap_or_default().replace('\n', " ")
}

#[test]
fn a_capture_gives_a_verdict() {
    let ran = run(&["trace", &lab("up-sender.pcap.gz")]);
    told(
        &ran,
        1,
        &["between the capture point and 198.19.0.2", "dropped only when the buffer is full", "frames "],
    );
    assert!(headline(&ran).contains("filled a tail-drop buffer of about 6"), "{}", headline(&ran));
    // Of a download its client sees nothing by sequence numbers.
    told(&run(&["trace", &lab("down-receiver.pcap.gz")]), 1, &["between 198.19.0.2 and the capture point"]);
    told(
        &run(&["trace", &lab("no-timestamps-sender.pcap.gz")]),
        1,
        &["without timestamps its location cannot be determined"],
    );
    told(&run(&["trace", &lab("fq_codel-sender.pcap.gz")]), 0, &["No bufferbloat"]);
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
    told(&run(&args), 1, &["wrote "]);
    for name in ["a.html", "a.json", "t.csv", "t.log", "p.txt", "xpl/a2b_tsg.xpl"] {
        assert!(std::fs::metadata(folder.join(name)).is_ok_and(|file| file.len() > 100), "{name}");
    }
    assert!(std::fs::read_dir(folder.join("qlog")).unwrap().count() > 0);
    // The file is a result like any other, with the same words.
    let again = run(&["report", &json]);
    told(&again, 1, &["tail-drop buffer"]);
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

/// Without addresses, with or without a port.
fn nameless(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| "(),.;".contains(c));
        let port = bare.rsplit_once(':').filter(|(host, _)| host.contains('.') || host.ends_with(']'));
        let host = port.map_or(bare, |(host, _)| host).trim_matches(['[', ']']);
        if host.parse::<std::net::IpAddr>().is_ok() { word.replace(host, "HOST") } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// All that the program says of a capture, but of whose and when it is.
fn told_of(path: &str) -> (serde_json::Value, String) {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                members.retain(|name, _| !["name", "title", "started", "host"].contains(&name.as_str()));
                members.values_mut().for_each(strip);
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(strip),
            serde_json::Value::String(text) => *text = nameless(text),
            _ => {}
        }
    }
    let mut json = serde_json::from_str(&run(&["trace", path, "--json"]).out).unwrap();
    strip(&mut json);
    let words = run(&["trace", path]).out;
    let verdict = words.split_whitespace().collect::<Vec<_>>().join(" ");
    // Tables and charts have widths that follow from the names; their values are in the result.
    let (_, findings) = verdict.split_once(" · ").unwrap_or_default();
    (json, nameless(&findings.replace(path, "FILE")))
}

/// The run that these arguments give.
fn told_of_args(args: &[&str]) -> serde_json::Value {
    let all = [&["trace", "--json"], args].concat();
    serde_json::from_str(&run(&all).out).unwrap()
}

#[test]
fn an_anonymous_copy_gives_the_same_diagnosis() {
    let copy = folder("trace-anonymous").join("copy.pcap").display().to_string();
    for capture in captures() {
        let capture = capture.display().to_string();
        told(&run(&["trace", &capture, "--anonymize", &copy]), 0, &["other addresses"]);
        let (mut before, mut after) = (told_of(&capture), told_of(&copy));
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

/// A capture of the packets of another that are wanted.
fn part_of(
    capture: &str,
    name: &str,
    is_wanted: impl Fn(&Frame<'_>, Result<Packet<'_>, NotIp>) -> bool,
) -> String {
    let mut bytes = Vec::new();
    let mut link = LinkType::ETHERNET;
    let mut tap = Tap::open(Path::new(capture)).unwrap();
    let each = |_, frame: &Frame<'_>| {
        link = frame.link;
        if is_wanted(frame, dissect(frame.link, frame.original_len, frame.bytes)) {
            bytes.extend(pcap_record_header(frame.at, frame.original_len, frame.bytes.len() as u32));
            bytes.extend(frame.bytes);
        }
        ControlFlow::Continue(())
    };
    tap.for_each(each).unwrap();
    let path = folder(&format!("trace-part-{name}")).join("part.pcap");
    std::fs::write(&path, [&pcap_header(link)[..], &bytes].concat()).unwrap();
    path.display().to_string()
}

/// As on all interfaces of a router: what comes in, and 50 us later with a hop less what goes out.
#[test]
fn packets_that_are_there_twice_count_once() {
    let mut records = Vec::new();
    let mut tap = Tap::open(Path::new(&lab("up-receiver.pcap.gz"))).unwrap();
    let each = |_, frame: &Frame<'_>| {
        let mut forwarded = frame.bytes.to_vec();
        forwarded[8] -= 1;
        records.push((frame.at, frame.original_len, frame.bytes.to_vec()));
        records.push((frame.at + 50_000, frame.original_len, forwarded));
        ControlFlow::Continue(())
    };
    tap.for_each(each).unwrap();
    records.sort_by_key(|record| record.0);
    let bytes = records.iter().flat_map(|(at, original_len, bytes)| {
        [&pcap_record_header(*at, *original_len, bytes.len() as u32)[..], bytes].concat()
    });
    let twice = folder("trace-twice").join("twice.pcap");
    std::fs::write(&twice, pcap_header(LinkType::RAW).into_iter().chain(bytes).collect::<Vec<_>>()).unwrap();
    let ran = run(&["trace", &twice.display().to_string()]);
    let words = "2701 packets are there more than once";
    told(&ran, 1, &[words, "retransmitted 16 segments (1.1 %)"]);
    // All of it but the frames' numbers and how late the second was.
    assert_eq!(headline(&ran), headline(&run(&["trace", &lab("up-receiver.pcap.gz")])));
}

/// A router without a battery captures from 1970 on, and is told the time after a second.
#[test]
fn a_clock_that_is_set_meanwhile_hides_no_queue() {
    let mut records = Vec::new();
    let mut tap = Tap::open(Path::new(&lab("up-sender.pcap.gz"))).unwrap();
    let mut first = None;
    let each = |_, frame: &Frame<'_>| {
        let since = frame.at - *first.get_or_insert(frame.at);
        let at = if since < 1_000_000_000 { since } else { frame.at };
        records.extend(pcap_record_header(at, frame.original_len, frame.bytes.len() as u32));
        records.extend(frame.bytes);
        ControlFlow::Continue(())
    };
    tap.for_each(each).unwrap();
    let set = folder("trace-set").join("set.pcap");
    std::fs::write(&set, [&pcap_header(LinkType::RAW)[..], &records].concat()).unwrap();
    let run_file = set.with_extension("json");
    let ran = run(&["trace", &set.display().to_string(), "-o", &run_file.display().to_string()]);
    told(&ran, 1, &["The clock was set once by more than a year", "filled a tail-drop buffer"]);
    told(&run(&["report", &run_file.display().to_string()]), 1, &["filled a tail-drop buffer of about 6"]);
}

#[test]
fn captures_that_hold_little_say_what_they_are() {
    let all = lab("../nat/inside.pcap.gz");
    let empty = part_of(&all, "empty", |_, _| false);
    told(
        &run(&["trace", &empty]),
        0,
        &["0 frames", "It holds no frame", "No verdict: no TCP in this capture."],
    );
    let arp = part_of(&all, "arp", |_, found| found.is_err());
    told(&run(&["trace", &arp]), 0, &["4 frames", "No IP is in any of its frames (4)", "No verdict: no TCP"]);
    let udp = part_of(&all, "udp", |_, found| found.is_ok_and(|p| matches!(p.transport, Transport::Udp(_))));
    let ran = run(&["trace", &udp]);
    told(&ran, 0, &["DNS: 6 asked, 0 without an answer; answers took ", "No verdict: no TCP"]);
    assert!(!ran.out.contains("goodput") && !ran.out.contains("\n\n\n"), "{}", ran.out);
    let one = part_of(&all, "syn", |_, found| {
        found.is_ok_and(
            |p| matches!(p.transport, Transport::Tcp(tcp) if tcp.flags == 2 && p.source.bits() & 1 == 0),
        )
    });
    told(&run(&["trace", &one]), 0, &["1 frame,", "the one TCP flow in this capture shows no queue"]);
}

#[test]
fn a_capture_of_one_direction_says_so() {
    let from = |sender: [u8; 4]| {
        let is_from = move |_: &Frame<'_>, found: Result<Packet<'_>, NotIp>| {
            found.is_ok_and(|packet| packet.source == Address::v4(sender))
        };
        part_of(&lab("up-receiver.pcap.gz"), "one-way", is_from)
    };
    let words = "only one direction was captured: what 198.19.0.2 sent to 198.18.0.2 is missing";
    told(
        &run(&["trace", &from([198, 18, 0, 2])]),
        1,
        &[" 4 TCP flows", words, "between 198.18.0.2 and the capture point"],
    );
    told(
        &run(&["trace", &from([198, 19, 0, 2])]),
        0,
        &["what 198.18.0.2 sent to 198.19.0.2 is missing", "No verdict"],
    );
}

#[test]
fn two_captures_tell_what_is_between_them() {
    let ran = run(&["trace", &lab("up-sender.pcap.gz"), &lab("up-receiver.pcap.gz")]);
    told(&ran, 1, &["Between up-sender.pcap.gz and up-receiver.pcap.gz", "packets were lost"]);
    let strangers = run(&["trace", &lab("up-sender.pcap.gz"), &lab("down-receiver.pcap.gz")]);
    told(&strangers, 2, &["no packet is in two of the captures"]);
}

/// Recorded before and behind a kernel that masquerades, with other ports.
#[test]
fn two_captures_tell_what_is_between_them_though_it_is_a_nat() {
    let folder = lab("../nat");
    let truth = std::fs::read_to_string(format!("{folder}/truth.txt")).unwrap();
    let row: Vec<&str> = truth.lines().last().unwrap().split_whitespace().collect();
    let ran =
        run(&["trace", &format!("{folder}/inside.pcap.gz"), &format!("{folder}/outside.pcap.gz"), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let hops = &json["capture"]["hops"];
    for hop in hops.as_array().unwrap() {
        assert_eq!((hop["lost_packets"].as_u64(), hop["routers"].as_i64()), (Some(0), Some(1)), "{hop}");
        assert_eq!(hop["translated_flows"].to_string(), row[0], "{hop}");
        assert_eq!(hop["appeared_packets"].as_u64(), Some(0), "{hop}");
    }
    assert_eq!(hops[1]["matched_packets"].to_string(), row[2]);
    let words = run(&["trace", &format!("{folder}/outside.pcap.gz"), &format!("{folder}/inside.pcap.gz")]);
    told(&words, 0, &["a NAT rewrites addresses or ports of 9 flows"]);
    assert_eq!(words.out.matches("a NAT").count(), 1, "{}", words.out);
}

#[test]
fn standard_input_is_read() {
    let file = std::fs::File::open(lab("up-sender.pcap.gz")).unwrap();
    let ran: Ran = fathom(&["trace", "-"]).stdin(Stdio::from(file)).output().unwrap().into();
    told(&ran, 1, &["standard input: ", "tail-drop buffer"]);
    told(&run(&["trace", "-", "-o", "x.html"]), 2, &["read a second time", "tee"]);
    let first = std::fs::File::open(lab("up-sender.pcap.gz")).unwrap();
    let args = ["trace", "-", &lab("up-receiver.pcap.gz")];
    let path: Ran = fathom(&args).stdin(Stdio::from(first)).output().unwrap().into();
    told(&path, 1, &["Between standard input and up-receiver.pcap.gz 16 packets were lost"]);
    told(&run(&["trace", "-", "-"]), 2, &["standard input can be one capture only"]);
    told(&run(&["trace", "-", "/nonexistent.pcap"]), 3, &["/nonexistent.pcap", "No such file"]);
}

/// One thread, two threads, and two that read a pipe.
#[test]
fn threads_change_nothing_of_a_result() {
    for capture in captures().iter().map(|path| path.display().to_string()) {
        let alone = told_of_args(&[&capture, "--threads", "1"]);
        assert_eq!(told_of_args(&[&capture, "--threads", "2"]), alone, "{capture}");
        assert_eq!(told_of_args(&[&capture]), alone, "{capture}");
        let file = std::fs::File::open(&capture).unwrap();
        let piped: Ran = fathom(&["trace", "-"]).stdin(Stdio::from(file)).output().unwrap().into();
        assert_eq!(headline(&piped), headline(&run(&["trace", &capture])), "{capture}");
    }
    let cut = folder("trace-threads").join("cut.pcap.gz");
    let whole = std::fs::read(lab("up-sender.pcap.gz")).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for threads in ["1", "2"] {
        told(&run(&["trace", &cut.display().to_string(), "--threads", threads]), 1, &["tail-drop buffer"]);
    }
    told(&run(&["trace", &lab("up-sender.pcap.gz"), "--threads", "3"]), 2, &["3 is not in 1..=2"]);
}

#[test]
fn a_capture_is_not_written_over() {
    let folder = folder("trace-over");
    let path = |name: &str| folder.join(name).display().to_string();
    let (own, same) = (path("own.pcap.gz"), path("./own.pcap.gz"));
    std::fs::copy(lab("up-sender.pcap.gz"), &own).unwrap();
    let export = format!("--export=pping={same}");
    for args in [["--anonymize", same.as_str()].as_slice(), &[export.as_str()]] {
        let ran = run(&[&["trace", own.as_str()], args].concat());
        told(&ran, 2, &["own.pcap.gz", "is read", "another name"]);
    }
    assert_eq!(std::fs::read(&own).unwrap(), std::fs::read(lab("up-sender.pcap.gz")).unwrap());
    // Of what is no capture there is no copy.
    let (text, copy) = (path("text"), path("copy.pcap"));
    std::fs::write(&text, "no capture\n").unwrap();
    told(&run(&["trace", &text, "--anonymize", &copy]), 2, &["is text"]);
    assert!(!folder.join("copy.pcap").exists());
}

#[test]
fn what_a_trace_refuses() {
    let folder = folder("trace-bad");
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).unwrap();
        folder.join(name).display().to_string()
    };
    told(&run(&["trace", &file("empty", b"")]), 2, &["is empty"]);
    told(
        &run(&["trace", &file("text", b"No. Time Source Destination Protocol\n1 0.0 a b TCP\n")]),
        2,
        &["is text"],
    );
    told(&run(&["trace", &folder.display().to_string()]), 2, &["is a directory"]);
    told(&run(&["trace", "/nonexistent.pcap"]), 3, &["/nonexistent.pcap", "No such file"]);
    told(&run(&["trace", "--interface", "nosuch0"]), 3, &["nosuch0"]);
    let good = lab("up-sender.pcap.gz");
    told(&run(&["trace", &good, "--duration", "1s"]), 2, &["--duration", "cannot be used with"]);
    told(&run(&["trace", &good, "-o", "x.html", "--flow", "99"]), 2, &["no flow 99", "4"]);
    for (form, path) in [("xplot", "/proc/nope"), ("pping", "/nonexistent/p"), ("tcptrace", "/dev/full")] {
        told(&run(&["trace", &good, &format!("--export={form}={path}")]), 3, &[path, "tail-drop buffer"]);
    }
    told(&run(&["trace", "x.pcap", "--export", "gnuplot=x"]), 2, &["unknown form", "xplot"]);
    // What came before the damage counts.
    let whole = std::fs::read(lab("up-sender.pcap.gz")).unwrap();
    told(&run(&["trace", &file("cut.pcap.gz", &whole[..whole.len() * 9 / 10])]), 1, &["the file is cut"]);
}
