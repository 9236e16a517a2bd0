//! Load flows and their reports.
use crate::client::{Control, SILENCE, ask, read_to_close, serve};
use fathom_probe::protocol::{ClientMessage, FlowReport, ServerMessage, UdpProbe};
use std::io::{ErrorKind, Read, Write};

fn report(control: &mut Control) -> (u64, Vec<FlowReport>) {
    match control.next() {
        Some(ServerMessage::Report { at_ns, flows, .. }) => (at_ns, flows),
        other => panic!("{other:?} instead of a report"),
    }
}

#[test]
fn up_flows_are_read_and_counted_to_the_byte() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    let (mut one, answer) = control.flow(7, "up -");
    assert!(answer.starts_with("OK "), "{answer}");
    let (mut two, _) = control.flow(8, "up -");
    one.write_all(&vec![1; 3_000_000]).unwrap();
    two.write_all(&[2; 500]).unwrap();
    control.say(&ClientMessage::ReportEvery { ms: 50 });
    loop {
        let (_, flows) = report(&mut control);
        let seen: Vec<_> = flows.iter().map(|f| (f.number, f.bytes)).collect();
        assert!(flows.iter().all(|f| f.rtt_us.is_none()), "an up flow's sender is the client: {flows:?}");
        if seen == [(7, 3_000_000), (8, 500)] {
            break;
        }
    }
    assert_eq!(control.bye(), (3_000_500, 0, 0, 0));
    assert_eq!(server.stats().up_bytes, 3_000_500);
}

#[test]
fn load_that_comes_with_the_first_line_counts() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    let (stream, _) = control.flow(1, "up -\nabc");
    // The end of the line came after "abc".
    server.until("the flow is open", |s| s.open_connections == 2);
    drop(stream);
    server.until("the flow has ended", |s| s.up_bytes == 4);
    assert_eq!(control.bye().0, 4);
}

#[test]
fn down_flows_carry_bytes_that_do_not_compress_and_reports_come_from_tcp_info() {
    let server = serve(|_| ());
    let mut control = Control::open(server.at("::1"));
    let (mut flow, answer) = control.flow(3, "down reno");
    assert_eq!(answer, "OK reno");
    control.say(&ClientMessage::ReportEvery { ms: 50 });
    let mut bytes = vec![0; 2_000_000];
    flow.read_exact(&mut bytes).unwrap();
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|b| counts[usize::from(*b)] += 1);
    assert!(
        counts.iter().all(|n| (7_000..8_700).contains(n)),
        "every byte is as frequent as any: {counts:?}"
    );
    // The client reads no more, so soon its window is full.
    let flow_report = (0..100)
        .map(|_| report(&mut control).1[0])
        .find(|report| report.unsent_bytes.is_some_and(|unsent| unsent > 1_000))
        .expect("a report with unsent bytes");
    assert_eq!(flow_report.number, 3);
    assert!(flow_report.rtt_us.is_some_and(|rtt| rtt < 10_000_000), "{flow_report:?}");
    assert!(flow_report.cwnd_bytes.is_some_and(|cwnd| cwnd > 1_000) && flow_report.retransmits.is_some());
    assert!(flow_report.delivered_bytes.is_some_and(|delivered| delivered >= flow_report.bytes));
    assert!(flow_report.receiver_limited_us.is_some(), "{flow_report:?}");
    let (_, down, ..) = control.bye();
    // Load continues between the count and the reset, so more may arrive than was counted, never
    // less.
    let arrived = 2_000_000 + read_to_close(&mut flow).len() as u64;
    assert!(down >= 2_000_000, "{down} bytes acknowledged of more than 2,000,000");
    assert!(down <= arrived, "{down} bytes acknowledged of {arrived} that arrived");
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_answered_with_what_there_is() {
    let server = serve(|_| ());
    let control = Control::open(server.v4());
    let (_one, default) = control.flow(1, "down -");
    let (_two, instead) = control.flow(2, "down nonesuch");
    assert!(default.starts_with("OK ") && default == instead, "{default} {instead}");
}

#[test]
fn the_end_of_the_session_resets_its_flows() {
    let server = serve(|_| ());
    for by_word in [true, false] {
        let mut control = Control::open(server.v4());
        let (mut flow, _) = control.flow(1, "down -");
        flow.read_exact(&mut [0; 1000]).unwrap();
        if by_word {
            control.bye();
        }
        drop(control);
        let mut buffer = vec![0; 1 << 20];
        let end = loop {
            match flow.read(&mut buffer) {
                Ok(0) => panic!("closed, not reset: what was buffered went on as load"),
                Ok(_) => {}
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(end, ErrorKind::ConnectionReset);
    }
}

#[test]
fn flows_are_refused_by_number_session_and_count() {
    let server = serve(|c| c.max_flows = 2);
    let control = Control::open(server.v4());
    let (one, _) = control.flow(1, "up -");
    assert!(control.flow(1, "down -").1.starts_with("ERR number "));
    let (_two, _) = control.flow(2, "up -");
    assert!(control.flow(3, "up -").1.starts_with("ERR full "));
    drop(one);
    server.until("the first flow has ended", |s| s.open_connections == 2);
    assert!(control.flow(1, "up -").1.starts_with("OK "), "a number is free again when its flow has ended");
    let stranger =
        crate::client::exchange(server.v4(), b"FATHOM/1 FLOW 00000000000000000000000000000000 1 down -\n");
    assert!(stranger.starts_with(b"ERR session "), "{}", String::from_utf8_lossy(&stranger));
}

#[test]
fn without_flows_there_are_no_reports_and_reports_share_the_clock_of_udp() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    control.say(&ClientMessage::ReportEvery { ms: 50 });
    control.stream.set_read_timeout(Some(SILENCE)).unwrap();
    assert!(control.stream.peek(&mut [0]).is_err(), "a report without flows");
    control.stream.set_read_timeout(Some(crate::client::PATIENCE)).unwrap();
    let (_flow, _) = control.flow(1, "up -");
    let (first, _) = report(&mut control);
    let socket = control.udp();
    let probe = UdpProbe::request(control.session, 1, 5).encode();
    let reply = ask(&socket, &probe, crate::client::PATIENCE).unwrap();
    let later = loop {
        let (at, _) = report(&mut control);
        if at > reply.server_send_ns {
            break at;
        }
    };
    assert!(first <= reply.server_receive_ns && reply.server_receive_ns <= reply.server_send_ns);
    assert!(later - first < 60_000_000_000);
}

#[test]
fn two_clients_at_once_are_counted_apart() {
    let server = serve(|_| ());
    let (mut a, mut b) = (Control::open(server.v4()), Control::open(server.at("::1")));
    let clients = [&a, &b].map(|control| {
        let ((up, _), (down, _)) = (control.flow(1, "up -"), control.flow(2, "down -"));
        (up, down)
    });
    let amounts = [400_000_usize, 900_000];
    let handles: Vec<_> = clients
        .into_iter()
        .zip(amounts)
        .map(|((mut up, mut down), amount)| {
            std::thread::spawn(move || {
                up.write_all(&vec![0; amount]).unwrap();
                down.read_exact(&mut vec![0; amount]).unwrap();
                up.shutdown(std::net::Shutdown::Write).unwrap();
                read_to_close(&mut up);
                (up, down)
            })
        })
        .collect();
    let kept: Vec<_> = handles.into_iter().map(|h| h.join().unwrap()).collect();
    let (got_a, got_b) = (a.bye(), b.bye());
    assert_eq!((got_a.0, got_b.0), (400_000, 900_000));
    assert!(got_a.1 >= 400_000 && got_b.1 >= 900_000);
    drop(kept);
}
