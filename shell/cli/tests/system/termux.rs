//! The program in Termux on Android, without root: `/etc` has no resolvers, and rtnetlink(7) is
//! refused. Termux has a file of resolvers below `$PREFIX`.
use crate::program::{Ran, Serve, scratch};
use fathom_os::netlink::{LOOPBACK, Netlink};
use fathom_test_support::in_new_namespace;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::net::{IpAddr, UdpSocket};
use std::process::Command;

/// Refuses sockets of netlink(7) to this thread and its children.
fn refuse_netlink() {
    let is_netlink =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, libc::AF_NETLINK as u64).unwrap();
    let rules = BTreeMap::from([(libc::SYS_socket, vec![SeccompRule::new(vec![is_netlink]).unwrap()])]);
    let refuse = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
    assert_eq!(Netlink::open().unwrap_err().raw_os_error(), Some(libc::EACCES));
}

/// Runs the program with an empty `/etc`.
fn in_termux(args: &[&str]) -> Ran {
    let prefix = scratch().join("termux");
    std::fs::create_dir_all(prefix.join("etc")).unwrap();
    std::fs::write(prefix.join("etc/resolv.conf"), "nameserver 127.0.0.53\n").unwrap();
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", "mount -t tmpfs none /etc && exec \"$@\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_fathom")).args(args).env("PREFIX", prefix).output().unwrap().into()
}

/// Answers queries for addresses of IPv4 with 192.0.2.7, and others with none.
fn resolve_all(socket: &UdpSocket) {
    let mut buffer = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let mut response = buffer[..length].to_vec();
        response[2] |= 0x80;
        if response.ends_with(&[0, 1, 0, 1]) {
            response[7] = 1;
            response.extend(b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x09\x00\x04\xc0\x00\x02\x07");
        }
        socket.send_to(&response, from).unwrap();
    }
}

#[test]
fn ping_and_test_work_in_termux() {
    in_new_namespace(|| {
        let address: IpAddr = "192.0.2.7".parse().unwrap();
        Netlink::open().unwrap().add_address(LOOPBACK, address, 32).unwrap();
        let resolver = UdpSocket::bind("127.0.0.53:53").unwrap();
        std::thread::spawn(move || resolve_all(&resolver));
        let server = Serve::start(&["--listen", "192.0.2.7"]);
        let target = server.target().replace("127.0.0.1", "phone.example");
        refuse_netlink();
        let ran = in_termux(&["ping", "-c", "2", "-i", "0.1", "phone.example"]);
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        assert!(ran.out.starts_with("PING phone.example (192.0.2.7)"), "{}", ran.describe());
        let tested =
            in_termux(&["test", &target, "--phases", "idle,up", "--max-phase", "1s", "--no-save", "-q"]);
        // A line that is faster than its computer has no result.
        assert!(tested.code.is_some_and(|code| [0, 4, 5].contains(&code)), "{}", tested.describe());
    });
}
