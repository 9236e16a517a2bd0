//! A minimal lab: a line, an echo over it, and a command on it. Runs without root if the system
//! allows it: `cargo run -p fathom-lab --example first`
#![expect(clippy::print_stdout, reason = "an example is a program")]
use fathom_lab::{Lab, LabOptions, Side};
use fathom_os::clock::Clock;
use std::error::Error;
use std::net::UdpSocket;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    // Before the first thread starts: a process with several threads cannot enter a user namespace.
    fathom_os::userns::become_root()?;
    let plan = fathom_scenario::builtin_plan("fiber").ok_or("fiber is a built-in line")??;
    let lab = Lab::start(&plan.line, &LabOptions::new(Clock::start(), 1))?;

    let server = lab.in_server(|| UdpSocket::bind((lab.server_address().v4, 0)))??;
    let client = lab.in_client(|| UdpSocket::bind((lab.client_address().v4, 0)))??;
    let clock = Clock::start();
    client.send_to(b"hello", server.local_addr()?)?;
    let (length, from) = server.recv_from(&mut [0; 64])?;
    server.send_to(b"hello", from)?;
    client.recv(&mut [0; 64])?;
    println!("{length} bytes came back after {}, propagation is {}", clock.now(), plan.line.propagation());

    let mut command = Command::new("sh");
    command.args(["-c", "echo here I am PID $$; exit 5"]);
    println!("{}", lab.spawn_command(Side::Client, command)?.wait()?);
    println!("{:?}", lab.finish()?.notes);
    Ok(())
}
