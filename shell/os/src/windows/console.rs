//! The console.
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Console::{
    ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode, GetStdHandle, STD_ERROR_HANDLE, STD_OUTPUT_HANDLE,
    SetConsoleMode,
};

/// Makes the console obey escape sequences, as terminals of other systems do. Consoles before
/// Windows 10 know none, and what is no console ignores the call.
pub fn enable_sequences() {
    for stream in [STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        let mut mode = 0;
        // SAFETY: the handle of a standard stream stays open; the pointer is valid for the call.
        unsafe {
            let handle = GetStdHandle(stream);
            if handle != INVALID_HANDLE_VALUE && GetConsoleMode(handle, &raw mut mode) != 0 {
                SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
            }
        }
    }
}
