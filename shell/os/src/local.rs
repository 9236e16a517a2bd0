//! Two connected streams of this process, with which one thread wakes another that waits for
//! sockets.
use std::io;

/// One end.
#[cfg(unix)]
pub type LocalStream = std::os::unix::net::UnixStream;
/// One end.
#[cfg(windows)]
pub type LocalStream = std::net::TcpStream;

/// Both ends.
///
/// # Errors
/// See `socketpair(2)`.
#[cfg(unix)]
pub fn pair() -> io::Result<(LocalStream, LocalStream)> {
    LocalStream::pair()
}

/// Both ends. Windows has streams between programs on its loopback interface alone.
///
/// # Errors
/// If there is no port for it.
#[cfg(windows)]
pub fn pair() -> io::Result<(LocalStream, LocalStream)> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let near = LocalStream::connect(listener.local_addr()?)?;
    let own = near.local_addr()?;
    // Another program may connect first.
    loop {
        let (far, peer) = listener.accept()?;
        if peer == own {
            far.set_nodelay(true)?;
            near.set_nodelay(true)?;
            return Ok((near, far));
        }
    }
}
