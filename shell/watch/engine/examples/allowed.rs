//! Prints whether this user may send ICMP echo, and what to try if not.
#![allow(clippy::print_stdout, reason = "it is all that this does")]

fn main() {
    let plan = fathom_watch_plan::parse("[[target]]\nname = 'a'\nhost = '127.0.0.1'", "example");
    let allowed = plan.map_err(|e| e.to_string()).and_then(|plan| fathom_watch_engine::permitted(&plan));
    println!("{}", allowed.map_or_else(|refusal| refusal, |()| "permitted".to_owned()));
}
