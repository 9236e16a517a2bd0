//! Compares our bytes with those of iproute2: `testdata/tc/requests.txt` has commands, which our
//! requests print, and the last message that `tc` or `ip` 6.1 sent for each, in hexadecimal with
//! sequence number 0. `testdata/tc/README.md` describes the recording.
use crate::samples::{index_of, requests};
use fathom_tc::{attributes, messages};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

fn recorded() -> BTreeMap<String, Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/tc/requests.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut all = BTreeMap::new();
    let mut lines = text.lines();
    while let (Some(command), Some(hex)) = (lines.next(), lines.next()) {
        all.insert(command.to_owned(), from_hex(hex.trim()));
    }
    all
}

fn from_hex(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// Attributes, one per line, nested ones indented. Intended differences are omitted or rounded:
/// - rate tables (RTAB, CTAB, PTAB): 1 kB each, used only with an unspecified link layer;
/// - the cell size of those tables, which `tc` doubles for an `mtu` above 2 kB;
/// - bursts in ticks: `tc` truncates to microseconds first, so they may differ by 16 ticks;
/// - CAKE: with a rate, `tc` disables autorate, and computes the target from the RTT as the kernel
///   does; `raw` sets the other two to the defaults of a new CAKE;
/// - size table: `tc` writes defaults of a table that it does not send.
fn shape(command: &str, body: &[u8], skip: usize) -> (String, Vec<u32>) {
    let (mut lines, mut ticks) = (String::new(), Vec::new());
    let fixed: String = body[..skip].iter().map(|b| format!("{b:02x}")).collect();
    lines += &format!("{fixed}\n");
    for a in attributes(&body[skip..]) {
        let nested = (a.number == 2 && skip == 20 && !command.contains("fifo"))
            || (a.number == 8 && skip == 20)
            || (a.number == 18 && skip == 16);
        match nested {
            true => inner(command, a.value, &mut lines, &mut ticks),
            false => writeln!(lines, "{} {:02x?}", a.raw, a.value).unwrap(),
        }
    }
    (lines, ticks)
}

fn inner(command: &str, value: &[u8], lines: &mut String, all_ticks: &mut Vec<u32>) {
    let is = |kind: &str| command.contains(&format!(" {kind} ")) || command.ends_with(&format!(" {kind}"));
    let left_out: &[u16] = match () {
        () if is("cake") && is("raw") => &[9, 4, 6],
        () if is("cake") || is("cake_mq") => &[9, 8],
        () if is("htb") => &[3, 4],
        () if is("tbf") => &[2, 3],
        () => &[],
    };
    for a in attributes(value).filter(|a| !left_out.contains(&a.number)) {
        let mut bytes = a.value.to_vec();
        let ticks: &[usize] = match () {
            () if is("htb") && a.number == 1 => &[24, 28],
            () if is("tbf") && a.number == 1 => &[28, 32],
            () => &[],
        };
        for at in ticks {
            all_ticks.push(u32::from_ne_bytes(bytes[*at..at + 4].try_into().unwrap()));
            bytes[*at..at + 4].fill(0);
        }
        if is("tbf") && a.number == 1 {
            (bytes[0], bytes[12]) = (0, 0);
        }
        if is("stab") && a.number == 1 && a.value.len() == 24 {
            bytes[..4].fill(0);
            bytes[16..].fill(0);
        }
        writeln!(lines, "    {} {bytes:02x?}", a.raw).unwrap();
    }
}

#[test]
fn bytes_match_iproute2() {
    let recorded = recorded();
    let (mut equal, mut compared) = (0, 0);
    for request in requests() {
        let command = request.to_string();
        let theirs = recorded.get(&command).unwrap_or_else(|| panic!("not recorded:\n{command}"));
        let bytes = request.encode(0, &index_of).unwrap();
        equal += usize::from(bytes == *theirs);
        compared += 1;
        let (a, b) = (messages(&bytes).next().unwrap(), messages(theirs).next().unwrap());
        assert_eq!((a.kind, a.flags), (b.kind, b.flags), "{command}");
        let fixed = if a.kind < 36 { 16 } else { 20 };
        let ((our_lines, our_ticks), (their_lines, their_ticks)) =
            (shape(&command, a.body, fixed), shape(&command, b.body, fixed));
        assert_eq!(our_lines, their_lines, "{command}");
        // `tc` truncates TBF's rate to 32 bits: 1 MB at 40 Gbit/s become 244 us instead of 210.
        let is_cut = command.contains(" tbf rate 40Gbit ");
        let far = !is_cut && our_ticks.iter().zip(&their_ticks).any(|(us, tc)| us.abs_diff(*tc) > 16);
        assert!(!far, "{our_ticks:?} and {their_ticks:?}: {command}");
    }
    println!("{equal} of {compared} equal in every byte");
    assert!(equal >= 25, "{equal} of {compared}");
}
