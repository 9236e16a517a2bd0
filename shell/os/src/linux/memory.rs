//! The memory allocator of the C library.

/// Limits the number of arenas from which threads allocate. glibc creates up to eight per CPU. Each
/// keeps what it once needed, so a daemon with many short queries grows for hours although it uses
/// little at a time. No effect with other C libraries.
pub fn limit_arenas(most: u8) {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt takes two numbers and changes settings of the allocator only. It returns 0
    // for an unknown setting, which leaves the default.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::from(most));
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = most;
}

/// Returns free memory in the middle of arenas to the system, which glibc does at their ends only.
/// Takes about 13 ms per 100 MB (measured), for which other threads cannot allocate. No effect with
/// other C libraries.
pub fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim takes a number and changes nothing that is allocated.
    unsafe {
        libc::malloc_trim(0);
    }
}
