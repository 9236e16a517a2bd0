//! Rehearses the rollback before anything is changed: recreates the snapshot on an interface in a
//! private namespace and compares it. What cannot be recreated there could not be restored here.
use crate::error::ApplyError;
use crate::kernel::Kernel;
use crate::restore::tree;
use crate::snapshot::Snapshot;
use fathom_os::netns::NetNs;
use fathom_os::userns;
use fathom_tc::{Object, Request};

/// Tries to recreate the egress qdiscs on an interface with `transmit_queues` queues. A fix does
/// not remove ingress qdiscs, and the kernel recreates its own.
///
/// # Errors
/// What could not be restored.
pub(crate) fn rehearse(snapshot: &Snapshot, transmit_queues: u32) -> Result<(), ApplyError> {
    if snapshot.root().is_none() {
        return Ok(());
    }
    let namespace = NetNs::create()
        .map_err(|error| ApplyError::words("private namespace", userns::explain(error).to_string()))?;
    let tried = std::thread::scope(|scope| {
        let tried = scope.spawn(|| {
            namespace.enter().map_err(ApplyError::system("enter a network namespace"))?;
            make_again(&mut Kernel::open()?, snapshot, transmit_queues)
        });
        tried.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    tried.map_err(|error| {
        let words = format!(
            "its qdiscs could not be restored exactly ({error}), so nothing was changed\n  \
             try: remove them first: tc qdisc del dev {} root",
            snapshot.name
        );
        ApplyError::words(&snapshot.name, words)
    })
}

fn make_again(kernel: &mut Kernel, snapshot: &Snapshot, queues: u32) -> Result<(), ApplyError> {
    let name = snapshot.name.clone();
    let up = Request::SetLink { name: name.clone(), up: Some(true), queue_packets: None };
    kernel.run(&[Request::AddIfb { name: name.clone(), queues }, up])?;
    for step in tree(snapshot) {
        kernel.run(&step)?;
    }
    let Some(again) = Snapshot::take(kernel, &name)? else { return Ok(()) };
    let same = side(snapshot) == side(&again);
    if same {
        return Ok(());
    }
    let words = snapshot.compare(&again).err().unwrap_or_else(|| "the restored qdiscs would differ".into());
    Err(ApplyError::words("rehearsal", words))
}

/// The objects to compare: all of egress, without interface numbers.
fn side(snapshot: &Snapshot) -> Vec<Object> {
    let mut objects: Vec<Object> = snapshot.side(false).into_iter().cloned().collect();
    objects.iter_mut().for_each(|object| object.header.interface = 0);
    objects
}
