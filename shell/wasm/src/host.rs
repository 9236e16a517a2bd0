//! The functions that the host calls.
//!
//! It writes into the memory that [`fathom_input`] returns, calls a function, and reads the
//! outputs. Functions return 0, or 1 if the first output is the text of an error.
#![allow(unsafe_code, reason = "a name that the host knows is unsafe to export; nothing else here is")]
use crate::{Output, SecondPass, Trace, sim};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

struct Host {
    input: Vec<u8>,
    trace: Option<Pass>,
    output: Output,
}

/// How far a capture is analyzed.
enum Pass {
    First(Box<Trace>),
    Second(Box<SecondPass>),
}

static HOST: Mutex<Host> = Mutex::new(Host {
    input: Vec::new(),
    trace: None,
    output: Output { document: String::new(), page: String::new() },
});
/// Where this program failed, and why.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn host() -> MutexGuard<'static, Host> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(|panic| *locked(&PANIC) = panic.to_string())));
    locked(&HOST)
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    fn end(&mut self, result: Result<Output, String>) -> u32 {
        let is_error = u32::from(result.is_err());
        self.output = result.unwrap_or_else(|document| Output { document, page: String::new() });
        is_error
    }
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.input).into_owned()
    }
}

/// Memory for the next `bytes` of input. It is valid until the next call of this function.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_input(bytes: usize) -> *mut u8 {
    let input = &mut host().input;
    input.resize(bytes, 0);
    input.as_mut_ptr()
}

/// Simulates the scenario file in the input.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_sim(seed: u64) -> u32 {
    let mut host = host();
    let result = sim(&host.text(), seed);
    host.end(result)
}

/// Starts to analyze a capture, whose name is the input: see [`Trace::new`].
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_trace(seed: u64) -> u32 {
    let mut host = host();
    host.trace = Some(Pass::First(Box::new(Trace::new(&host.text(), seed))));
    host.end(Ok(Output::default()))
}

/// Takes the input as the next bytes of the capture.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_trace_push() -> u32 {
    let mut host = host();
    let Host { input, trace, .. } = &mut *host;
    let result = match trace {
        Some(Pass::First(trace)) => trace.push(input),
        Some(Pass::Second(trace)) => trace.push(input),
        None => out_of_order(),
    };
    host.end(result.map(|()| Output::default()))
}

/// At the end of the capture: expects it once more. The input is why it cannot be read further, or
/// empty.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_trace_rewind() -> u32 {
    let mut host = host();
    let unread = Some(host.text()).filter(|text| !text.is_empty());
    let result = match host.trace.take() {
        Some(Pass::First(trace)) => trace.rewind(unread),
        _ => out_of_order(),
    };
    let result = result.map(|trace| host.trace = Some(Pass::Second(Box::new(trace))));
    host.end(result.map(|()| Output::default()))
}

/// At the second end of the capture: makes the document and the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_trace_finish() -> u32 {
    let mut host = host();
    let result = match host.trace.take() {
        Some(Pass::Second(trace)) => Ok(trace.finish()),
        _ => out_of_order(),
    };
    host.end(result)
}

/// Our host keeps the order, so this has no words.
fn out_of_order<T>() -> Result<T, String> {
    Err(String::new())
}

/// An output: 0 is the document or the error, 1 the page, 2 why the program failed. It is valid
/// until the next call of another function.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_output(which: u32) -> *const u8 {
    with_output(which, str::as_ptr)
}

/// The length of an output.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn fathom_output_bytes(which: u32) -> usize {
    with_output(which, str::len)
}

fn with_output<T>(which: u32, of: impl FnOnce(&str) -> T) -> T {
    match which {
        0 => of(&host().output.document),
        1 => of(&host().output.page),
        // The host is still locked if it failed.
        _ => of(&locked(&PANIC)),
    }
}
