//! How many files and sockets this process may have open.
use std::io;

/// Raises the limit to what the system lets this process have, and returns it: the usual 1,024 is for programs that use
/// select(2), which this one does not.
///
/// # Errors
/// As `getrlimit(2)` and `setrlimit(2)`.
pub fn raise_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid through the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: `limit` is valid through the call, and only read.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_what_may_be_had_and_stays() {
        let first = raise_limit().unwrap();
        assert!(first > 0);
        assert_eq!(raise_limit().unwrap(), first);
    }
}
