//! A gateway on loopback without TLS, which a test kills.
use fathom_fleet_gateway::{Gateway, GatewayConfig};
use std::io::Write;
use std::time::Duration;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(state), Some(listen)) = (arguments.next(), arguments.next()) else { return };
    let Ok(listen) = listen.parse() else { return };
    let certificate = None;
    let grace = Duration::ZERO;
    let config = GatewayConfig { listen, certificate, grace, ..GatewayConfig::new(state) };
    match Gateway::start(&config) {
        Ok(_gateway) => {
            // The test waits for this line.
            let _ = writeln!(std::io::stdout(), "ready");
            loop {
                std::thread::park();
            }
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
        }
    }
}
