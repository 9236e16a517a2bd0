//! No bytes make option parsing panic or loop. The fuzz target `tcp_option` runs this too.
use fathom_wire::{TcpOption, TcpOptions};

/// Parses the options; each one with a length uses that many bytes.
pub(crate) fn check(bytes: &[u8]) {
    let options: Vec<_> = TcpOptions::new(bytes).collect();
    assert!(options.len() <= bytes.len());
    for option in options {
        match option {
            TcpOption::FastOpen(cookie) => assert!(usize::from(cookie) + 2 <= bytes.len()),
            TcpOption::UserTimeout(seconds) => assert!(seconds <= 0x7fff * 60),
            TcpOption::Multipath(subtype) => assert!(subtype < 16),
            TcpOption::AccurateEcn { ect_0_bytes, ce_bytes, ect_1_bytes } => {
                let counters = [ect_0_bytes, ce_bytes, ect_1_bytes];
                assert!(counters.iter().flatten().all(|counter| *counter < 1 << 24));
                // The second counter is never present without the first.
                assert!(ce_bytes.is_none() || ect_0_bytes.is_some() || ect_1_bytes.is_some());
            }
            _ => {}
        }
    }
}
