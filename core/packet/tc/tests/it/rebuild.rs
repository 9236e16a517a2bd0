//! Real queues as reported by Linux: `testdata/tc/dumps/` has answers to list requests,
//! `golden/tc/dumps.txt` their content. Six are of Linux 6.18; those of CAKE and `fq_codel` of
//! Linux 6.1 and 7.2 (User-Mode Linux), during traffic.
use fathom_tc::{Detail, Object, Request, Stats, messages};
use std::fmt::Write;
use std::path::Path;

fn words(stats: &Stats) -> String {
    let mut line = format!(
        "    sent {} B {} packets, waiting {} B {} packets, drops {}, overlimits {}",
        stats.sent_bytes,
        stats.sent_packets,
        stats.backlog_bytes,
        stats.queued_packets,
        stats.drops,
        stats.overlimits
    );
    match &stats.detail {
        Detail::None => {}
        Detail::Cake(cake) => {
            write!(
                line,
                "\n    memory {} of {} B, offset {} B",
                cake.memory_most_bytes, cake.memory_limit_bytes, cake.average_offset_bytes
            )
            .unwrap();
            for tin in &cake.tins {
                write!(line, "\n    {tin:?}").unwrap();
            }
        }
        other => write!(line, "\n    {other:?}").unwrap(),
    }
    line
}

#[test]
fn replies_of_kernels_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut files: Vec<_> =
        std::fs::read_dir(root.join("testdata/tc/dumps")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut text = String::new();
    for file in files {
        writeln!(text, "{}", file.file_name().unwrap().to_string_lossy()).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        for object in messages(&bytes).filter_map(|message| Object::read(&message)) {
            let stats = object.stats();
            let again = Request::Again { device: "eth0".into(), object: object.without_counters() };
            writeln!(text, "  {again}").unwrap();
            if let Some(stats) = stats {
                writeln!(text, "{}", words(&stats)).unwrap();
            }
        }
    }
    let golden = root.join("golden/tc/dumps.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(text, expected, "make golden rewrites {}", golden.display());
}

#[test]
fn the_tins_of_all_queues_are_added_up() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/tc/dumps/7.2-cake_mq-qdiscs");
    let bytes = std::fs::read(file).unwrap();
    let objects: Vec<Object> = messages(&bytes).filter_map(|message| Object::read(&message)).collect();
    let mut root = objects.iter().find(|o| o.kind() == "cake_mq").unwrap().stats().unwrap();
    for queue in objects.iter().filter(|o| o.kind() == "cake") {
        root.add_queue(queue.stats().unwrap());
    }
    let Detail::Cake(all) = &root.detail else { panic!("{root:?}") };
    // CAKE counts packets of tins on arrival, those of the root on departure.
    let sum = |of: fn(&fathom_tc::Tin) -> u32| all.tins.iter().map(of).sum::<u32>();
    assert_eq!((all.tins.len(), sum(|tin| tin.drops)), (3, root.drops));
    assert_eq!(sum(|tin| tin.backlog_bytes), root.backlog_bytes);
    assert_eq!(
        u64::from(sum(|tin| tin.sent_packets)),
        root.sent_packets + u64::from(root.queued_packets + root.drops)
    );
    assert!(root.drops > 100 && root.marks() == Some(0), "{root:?}");
}
