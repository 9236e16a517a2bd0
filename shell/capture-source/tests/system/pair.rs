use crate::{Scratch, capture, read};
use fathom_capture_source::{FrameSource, InputEnd, SourceError};
use std::io::Write;
use std::path::Path;
use std::thread;

fn told(read: Result<InputEnd, SourceError>) -> String {
    match read {
        Ok(ending) => {
            let trouble = ending.trouble.map(|trouble| trouble.to_string());
            format!("{} frames, {} bytes, {trouble:?}", ending.contents.frames, ending.contents.bytes)
        }
        Err(error) => error.to_string(),
    }
}

/// What each of two threads that read `path` concurrently reports.
fn read_pair(path: &Path) -> [String; 2] {
    let (first, second) = FrameSource::open_pair(path, true).unwrap();
    let beside = thread::spawn(move || told(read(second.unwrap())));
    [told(read(first)), beside.join().unwrap()]
}

#[test]
fn two_threads_read_what_one_reads() {
    let plain = capture(3000);
    let damaged = [&plain[..], &[0xff; 5000]].concat();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&plain).unwrap();
    let packed = packer.finish().unwrap();
    let files: [(&str, &[u8], &str); 7] = [
        ("plain", &plain, "3000 frames"),
        ("cut", &plain[..plain.len() - 1], "2999 frames"),
        ("damaged", &damaged, "damaged at byte"),
        ("packed", &packed, "3000 frames"),
        ("packed-cut", &packed[..packed.len() / 2], "frames"),
        ("text", b"no capture\n", "is text"),
        ("empty", b"", "is empty"),
    ];
    for (name, bytes, words) in files {
        let file = Scratch::new(&format!("pair-{name}.pcap"), bytes);
        let alone = told(FrameSource::open(file.path()).and_then(read));
        assert!(alone.contains(words), "{name}: {alone}");
        assert_eq!(read_pair(file.path()), [alone.clone(), alone.clone()], "{name}");
        let (first, second) = FrameSource::open_pair(file.path(), false).unwrap();
        assert_eq!(
            (told(read(first)), second.is_none()),
            (alone, bytes == packed || name == "packed-cut" || bytes.is_empty()),
            "{name}"
        );
    }
}

/// Both readers stop at the length that the file had when it was opened.
#[test]
fn a_file_that_grows_is_the_same_for_both() {
    let file = Scratch::new("pair-grows.pcap", &capture(100));
    let (first, second) = FrameSource::open_pair(file.path(), false).unwrap();
    let ending = read(first).unwrap();
    let more =
        std::fs::OpenOptions::new().append(true).open(file.path()).unwrap().write_all(&capture(200)[24..]);
    more.unwrap();
    assert_eq!((ending.contents.frames, read(second.unwrap()).unwrap().contents.frames), (100, 100));
}

#[test]
fn a_pipe_is_read_once_for_both() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    let feeder =
        thread::spawn(move || capture(3000).chunks(7000).for_each(|some| writer.write_all(some).unwrap()));
    let both = read_pair(Path::new(&path));
    drop(reader);
    feeder.join().unwrap();
    assert!(both.iter().all(|said| said.starts_with("3000 frames")), "{both:?}");
}
