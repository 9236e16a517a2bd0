//! Makes an interface's queues what they were.
use crate::error::ApplyError;
use crate::kernel::Kernel;
use crate::snapshot::{Snapshot, is_ingress};
use fathom_tc::{Handle, Object, Request, What};
use std::collections::BTreeSet;

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restored {
    /// All is as it was, which was looked at.
    Same,
    /// The interface is gone, or another has its name: there is nothing to make again.
    Gone,
}

/// Something else may alter the interface at the same time, or switch it off and on.
const TRIES: u32 = 3;

/// Makes the queues of an interface what they were, removes the interfaces in `made`, and looks whether it worked.
///
/// # Errors
/// What is not as it was, and why.
pub fn restore(kernel: &mut Kernel, was: &Snapshot, made: &[String]) -> Result<Restored, ApplyError> {
    let mut outcome = Ok(Restored::Same);
    for _ in 0..TRIES {
        outcome = try_restore(kernel, was).and_then(|restored| {
            remove(kernel, made)?;
            Ok(restored)
        });
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn try_restore(kernel: &mut Kernel, was: &Snapshot) -> Result<Restored, ApplyError> {
    let Some(is) = present(kernel, was)? else { return Ok(Restored::Gone) };
    kernel.run(&ingress_requests(was, &is))?;
    for step in egress_requests(was, &is) {
        kernel.run(&step)?;
    }
    let Some(after) = present(kernel, was)? else { return Ok(Restored::Gone) };
    after_is_same(was, &after)
}

fn after_is_same(was: &Snapshot, after: &Snapshot) -> Result<Restored, ApplyError> {
    let words = |words| ApplyError::words(format!("{} is not as it was", was.name), words);
    was.compare(after).map(|()| Restored::Same).map_err(words)
}

/// The same interface, as it is now.
fn present(kernel: &mut Kernel, was: &Snapshot) -> Result<Option<Snapshot>, ApplyError> {
    Ok(Snapshot::take(kernel, &was.name)?.filter(|now| now.index == was.index))
}

/// Interfaces that we made. One that is gone already is as it should be; one of another kind is not ours.
fn remove(kernel: &mut Kernel, made: &[String]) -> Result<(), ApplyError> {
    for link in kernel.links()? {
        if made.contains(&link.name) && link.kind.as_deref() == Some("ifb") {
            kernel.run(&[Request::DeleteLink { name: link.name }])?;
        }
    }
    Ok(())
}

/// Packets that arrive: away with what is new, then again what is missing. What stays stays in place all the time.
fn ingress_requests(was: &Snapshot, is: &Snapshot) -> Vec<Request> {
    let mut requests = Vec::new();
    let device = || was.name.clone();
    let is_same_qdisc = was.ingress().map(Object::kind) == is.ingress().map(Object::kind);
    let mut left: Vec<&Object> = is.side(true);
    if let Some(qdisc) = is.ingress().filter(|_| !is_same_qdisc) {
        let kind = if qdisc.kind() == "clsact" { "clsact" } else { "ingress" };
        requests.push(Request::DeleteQdisc { device: device(), parent: Handle::INGRESS, kind: Some(kind) });
        left.clear();
    }
    // Filters can be removed by their turn only; those of the same turn are made again.
    let turn = |o: &Object| (o.header.parent, o.header.info >> 16);
    let expected: Vec<&Object> = was.side(true);
    let wrong: BTreeSet<_> =
        left.iter().filter(|o| o.what == What::Filter && !expected.contains(o)).map(|o| turn(o)).collect();
    for (parent, priority) in &wrong {
        let (parent, priority) = (Handle(*parent), *priority as u16);
        requests.push(Request::DeleteFilter { device: device(), parent, priority });
    }
    left.retain(|o| o.what != What::Filter || !wrong.contains(&turn(o)));
    let missing = expected.iter().filter(|o| !left.contains(o));
    requests.extend(missing.filter_map(|o| again(&was.name, o)));
    requests
}

/// Packets that leave, in two batches: the whole tree, if anything in it differs, then its filters.
fn egress_requests(was: &Snapshot, is: &Snapshot) -> Vec<Vec<Request>> {
    if was.side(false) == is.side(false) {
        return Vec::new();
    }
    let mut requests = Vec::new();
    if is.root().is_some() {
        let device = was.name.clone();
        requests.push(Request::DeleteQdisc { device, parent: Handle::ROOT, kind: None });
    }
    let [tree, filters] = tree(was);
    requests.extend(tree);
    vec![requests, filters]
}

/// The requests that make a snapshot's tree of what leaves: each after what it hangs on, filters last.
pub(crate) fn tree(was: &Snapshot) -> [Vec<Request>; 2] {
    let mut open: Vec<&Object> = was.side(false).into_iter().filter(|o| o.what != What::Filter).collect();
    let classes: BTreeSet<u32> = was.of(What::Class, false).map(|class| class.header.handle).collect();
    let mut made: BTreeSet<u32> = BTreeSet::from([Handle::ROOT.0]);
    let mut requests = Vec::new();
    while !open.is_empty() {
        let before = open.len();
        open.retain(|object| {
            let is_ready = hangs_on(object, &made, &classes);
            if is_ready {
                made.insert(object.header.handle);
                requests.extend(again(&was.name, object));
            }
            !is_ready
        });
        // What hangs on nothing is tried all the same, for the kernel to say what it thinks of it.
        if open.len() == before {
            requests.extend(open.drain(..).filter_map(|object| again(&was.name, object)));
        }
    }
    let filters = was.of(What::Filter, false).filter_map(|o| again(&was.name, o)).collect();
    [requests, filters]
}

/// A class needs its queue discipline and the class above it; a queue discipline the class it is in, or if that is none of those that
/// have to be made, the queue discipline that brings it with it.
fn hangs_on(object: &Object, made: &BTreeSet<u32>, classes: &BTreeSet<u32>) -> bool {
    let (parent, own) = (Handle(object.header.parent), Handle(object.header.handle));
    match object.what {
        What::Class => made.contains(&own.qdisc().0) && (parent == Handle::ROOT || made.contains(&parent.0)),
        _ if classes.contains(&parent.0) || parent == Handle::ROOT => made.contains(&parent.0),
        _ => made.contains(&parent.qdisc().0),
    }
}

fn again(device: &str, object: &Object) -> Option<Request> {
    Some(Request::Again { device: device.to_owned(), object: object.to_make_again()? })
}

/// Why an interface could not be made so again, if anything of it could not: programs that the kernel tells only by number.
#[must_use]
pub(crate) fn obstacle(snapshot: &Snapshot) -> Option<String> {
    const PROGRAM: u16 = 5;
    let is_opaque = |o: &&Object| {
        o.what == What::Filter
            && !is_ingress(o)
            && o.kind() == "bpf"
            && fathom_tc::find(o.options().unwrap_or_default(), PROGRAM).is_none()
    };
    snapshot.objects.iter().find(is_opaque).map(|filter| {
        format!(
            "{} has an eBPF filter on {}, which Linux does not tell and nobody could put back",
            snapshot.name,
            Handle(filter.header.parent)
        )
    })
}
