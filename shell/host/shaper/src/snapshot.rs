//! Snapshot of an interface's qdiscs, to restore them.
use crate::error::ApplyError;
use crate::kernel::Kernel;
use fathom_tc::{Handle, Object, What};

/// The qdiscs of an interface at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Name of the interface.
    pub name: String,
    /// Index of the interface. A new interface with the same name has another index.
    pub index: u32,
    /// Whether it was up; an interface that is down has no qdisc.
    pub up: bool,
    /// Qdiscs, classes and filters without counters, in a canonical order.
    pub objects: Vec<Object>,
}

impl Snapshot {
    /// Takes a snapshot of an interface; `None` if it does not exist.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn take(kernel: &mut Kernel, name: &str) -> Result<Option<Snapshot>, ApplyError> {
        let Some(link) = kernel.link(name)? else { return Ok(None) };
        let mut objects = kernel.qdiscs(link.index)?;
        let mut classes = kernel.classes(link.index)?;
        classes.retain(|class| class.to_make_again().is_some());
        for parent in parents(&objects, &classes) {
            let filters = kernel.filters(link.index, parent.0)?;
            objects.extend(filters.into_iter().filter(|filter| filter.to_make_again().is_some()));
        }
        objects.extend(classes);
        let mut objects: Vec<Object> = objects.iter().map(Object::without_counters).collect();
        objects.sort_by_key(|o| (o.what, is_ingress(o), o.header.handle, o.header.parent, o.header.info));
        Ok(Some(Snapshot { name: link.name, index: link.index, up: link.up, objects }))
    }
    /// The objects of one type and direction.
    pub(crate) fn of(&self, what: What, ingress: bool) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(move |o| o.what == what && is_ingress(o) == ingress)
    }
    /// The root qdisc, if a user or program created it; the kernel's default has no handle.
    pub(crate) fn root(&self) -> Option<&Object> {
        self.of(What::Qdisc, false).find(|o| Handle(o.header.parent) == Handle::ROOT && o.header.handle != 0)
    }
    /// The ingress or clsact qdisc.
    pub(crate) fn ingress(&self) -> Option<&Object> {
        self.of(What::Qdisc, true).next()
    }
    /// The objects of one direction. For an interface that is down, without the kernel's defaults.
    pub(crate) fn side(&self, ingress: bool) -> Vec<&Object> {
        let all = self.objects.iter().filter(|o| is_ingress(o) == ingress);
        all.filter(|o| o.what != What::Qdisc || o.header.handle != 0).collect()
    }
    /// Compares two snapshots.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn compare(&self, after: &Snapshot) -> Result<(), String> {
        let named = [self, after].map(|s| [s.side(false), s.side(true)].concat());
        let defaults = |s: &Snapshot| -> Vec<Object> {
            s.objects.iter().filter(|o| o.what == What::Qdisc && o.header.handle == 0).cloned().collect()
        };
        let gone = named[0].iter().find(|o| !named[1].contains(o)).map(|o| ("is missing", describe(o)));
        let new = named[1].iter().find(|o| !named[0].contains(o)).map(|o| ("is left over", describe(o)));
        if let Some((how, what)) = gone.or(new) {
            return Err(format!("{} of {} {how}", what, self.name));
        }
        // The kernel adds default qdiscs when the interface goes up.
        if self.up == after.up && defaults(self) != defaults(after) {
            return Err(format!("the default qdisc of {} differs", self.name));
        }
        Ok(())
    }
    /// Removes the objects of one direction.
    pub(crate) fn remove_side(&mut self, ingress: bool) {
        self.objects.retain(|object| is_ingress(object) != ingress);
    }
    /// Whether a major number is in use.
    pub(crate) fn has_major(&self, major: u16) -> bool {
        self.objects.iter().any(|o| o.what == What::Qdisc && Handle(o.header.handle).major() == major)
    }
}

pub(crate) fn describe(object: &Object) -> String {
    let place = Handle(object.header.handle);
    match object.what {
        What::Qdisc => format!("the qdisc {place} {}", object.kind()),
        What::Class => format!("the class {place} {}", object.kind()),
        What::Filter => format!("a filter {} of {}", object.kind(), Handle(object.header.parent)),
    }
}

/// Whether the object is ingress or attached to it.
pub(crate) fn is_ingress(object: &Object) -> bool {
    let header = object.header;
    let place = if object.what == What::Filter { header.parent } else { header.handle };
    Handle(place).qdisc() == Handle::INGRESS_QDISC
}

/// Possible parents of filters: each qdisc with a handle and each of its classes; for clsact, its
/// two hooks.
fn parents(qdiscs: &[Object], classes: &[Object]) -> Vec<Handle> {
    let mut all = Vec::new();
    for qdisc in qdiscs.iter().filter(|q| q.header.handle != 0) {
        match qdisc.kind().as_str() {
            "clsact" => all.extend([Handle::CLSACT_INGRESS, Handle::CLSACT_EGRESS]),
            // These have no filters and return an error.
            "tbf" | "pfifo" | "bfifo" | "pfifo_fast" | "mq" | "noqueue" | "cake_mq" => {}
            _ => all.push(Handle(qdisc.header.handle)),
        }
    }
    all.extend(classes.iter().map(|class| Handle(class.header.handle)));
    all
}
