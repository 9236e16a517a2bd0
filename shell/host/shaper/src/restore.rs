//! Restores an interface's qdiscs.
use crate::error::ApplyError;
use crate::kernel::Kernel;
use crate::snapshot::{Snapshot, describe, is_ingress};
use crate::state::{OwnObjects, State};
use fathom_tc::{Handle, Object, Request, What};
use std::collections::BTreeSet;

/// Result of a restore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Restored {
    /// Everything was restored and verified.
    Same,
    /// What the fix added was removed. What others changed since was left as it is: one line each.
    Kept(Vec<String>),
    /// The interface is missing or was replaced by another: there is nothing to restore.
    Gone,
}

/// Attempts, because another program may change the interface at the same time, or take it down and
/// up.
const TRIES: u32 = 3;

/// Restores the qdiscs of an interface, removes the interfaces that the fix created, and verifies
/// the result. What others changed since is not touched.
///
/// # Errors
/// What could not be restored, and why.
pub fn restore(kernel: &mut Kernel, state: &State) -> Result<Restored, ApplyError> {
    let mut outcome = Ok(Restored::Same);
    for _ in 0..TRIES {
        outcome = try_restore(kernel, &state.snapshot, state.own.as_ref()).and_then(|restored| {
            remove(kernel, &state.made)?;
            Ok(restored)
        });
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn try_restore(
    kernel: &mut Kernel,
    was: &Snapshot,
    own: Option<&OwnObjects>,
) -> Result<Restored, ApplyError> {
    let Some(is) = present(kernel, was)? else { return Ok(Restored::Gone) };
    let changes = own.map_or_else(Changes::default, |own| Changes::of(was, &is, own));
    match own.filter(|_| !changes.ingress.is_empty()) {
        Some(own) => kernel.run(&own_filter_requests(was, &is, own))?,
        None => kernel.run(&ingress_requests(was, &is))?,
    }
    if changes.egress.is_none() {
        for step in egress_requests(was, &is) {
            kernel.run(&step)?;
        }
    }
    let Some(after) = present(kernel, was)? else { return Ok(Restored::Gone) };
    changes.verify(was, &after)?;
    let kept: Vec<String> = changes.egress.into_iter().chain(changes.ingress).collect();
    Ok(if kept.is_empty() { Restored::Same } else { Restored::Kept(kept) })
}

/// What others changed since the fix, in words.
#[derive(Default)]
struct Changes {
    egress: Option<String>,
    ingress: Vec<String>,
}

impl Changes {
    fn of(was: &Snapshot, is: &Snapshot, own: &OwnObjects) -> Changes {
        let is_expected = |root: &&Object| {
            own.majors.contains(&Handle(root.header.handle).major())
                || was
                    .root()
                    .is_some_and(|old| (old.header.handle, old.kind()) == (root.header.handle, root.kind()))
        };
        let egress = is.root().filter(|root| !is_expected(root));
        // A fix adds a qdisc of the kind `ingress`, or none.
        let kind = |snapshot: &Snapshot| snapshot.ingress().map(Object::kind);
        let qdisc = is.ingress().filter(|q| q.kind() == "clsact" && kind(was) != kind(is));
        let known = was.side(true);
        let is_new = |o: &&Object| o.what == What::Filter && !known.contains(o) && !is_own(o, own);
        let filters = is.side(true).into_iter().filter(is_new);
        Changes {
            egress: egress.map(|root| format!("egress has {} since", describe(root))),
            ingress: qdisc
                .into_iter()
                .chain(filters)
                .map(|o| format!("ingress has {} since", describe(o)))
                .collect(),
        }
    }
    /// Checks the sides that nobody else changed.
    fn verify(&self, was: &Snapshot, after: &Snapshot) -> Result<(), ApplyError> {
        let (mut expected, mut found) = (was.clone(), after.clone());
        for is_ingress in [self.egress.is_some().then_some(false), (!self.ingress.is_empty()).then_some(true)]
        {
            let Some(side) = is_ingress else { continue };
            expected.remove_side(side);
            found.remove_side(side);
        }
        let words = |words| ApplyError::words(format!("{} was not fully restored", was.name), words);
        expected.compare(&found).map_err(words)
    }
}

fn is_own(filter: &Object, own: &OwnObjects) -> bool {
    own.filter == Some((filter.header.parent, (filter.header.info >> 16) as u16))
}

/// Removes only the filter that the fix added.
fn own_filter_requests(was: &Snapshot, is: &Snapshot, own: &OwnObjects) -> Vec<Request> {
    let own_filter = is.of(What::Filter, true).find(|filter| is_own(filter, own));
    let remove = own_filter.map(|filter| Request::DeleteFilter {
        device: was.name.clone(),
        parent: Handle(filter.header.parent),
        priority: (filter.header.info >> 16) as u16,
    });
    remove.into_iter().collect()
}

/// The current state of the same interface.
fn present(kernel: &mut Kernel, was: &Snapshot) -> Result<Option<Snapshot>, ApplyError> {
    Ok(Snapshot::take(kernel, &was.name)?.filter(|now| now.index == was.index))
}

/// Removes interfaces that we created. A missing one is fine; one of another type is not ours.
fn remove(kernel: &mut Kernel, made: &[String]) -> Result<(), ApplyError> {
    for link in kernel.links()? {
        if made.contains(&link.name) && link.kind.as_deref() == Some("ifb") {
            kernel.run(&[Request::DeleteLink { name: link.name }])?;
        }
    }
    Ok(())
}

/// Ingress: removes new objects, then recreates missing ones. Unchanged objects stay in place
/// throughout.
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
    // Filters can be removed only by priority, so those that share one are recreated.
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

/// Egress, in two batches: the whole tree if anything in it differs, then its filters.
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

/// Requests that recreate a snapshot's egress tree: parents first, filters last.
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
        // Try objects without a known parent anyway, so that the kernel reports the error.
        if open.len() == before {
            requests.extend(open.drain(..).filter_map(|object| again(&was.name, object)));
        }
    }
    let filters = was.of(What::Filter, false).filter_map(|o| again(&was.name, o)).collect();
    [requests, filters]
}

/// Whether the parents of an object exist. A class needs its qdisc and its parent class. A qdisc
/// needs its class, or, if that class is not one to be recreated, the qdisc that creates it.
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

/// Why an interface could not be restored exactly, if so: the kernel does not return the bytecode
/// of some eBPF filters.
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
            "{} has an eBPF filter on {} that cannot be read back from the kernel, so it could not be restored",
            snapshot.name,
            Handle(filter.header.parent)
        )
    })
}
