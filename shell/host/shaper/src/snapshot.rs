//! How an interface's queues are, so that they can be made so again.
use crate::error::ApplyError;
use crate::kernel::Kernel;
use fathom_tc::{Handle, Object, What};

/// The queues of an interface at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The interface's name.
    pub name: String,
    /// Its number: another interface of the same name has another.
    pub index: u32,
    /// Whether it was switched on; one that is off has no queue.
    pub up: bool,
    /// Queue disciplines, classes and filters, without counters, in an order that depends on nothing else.
    pub objects: Vec<Object>,
}

impl Snapshot {
    /// Looks at an interface; `None` if it is not there.
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
    /// The objects of one kind of thing, on one side.
    pub(crate) fn of(&self, what: What, ingress: bool) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(move |o| o.what == what && is_ingress(o) == ingress)
    }
    /// The queue discipline of what leaves, if a person or program made it: the kernel's own has no name.
    pub(crate) fn root(&self) -> Option<&Object> {
        self.of(What::Qdisc, false).find(|o| Handle(o.header.parent) == Handle::ROOT && o.header.handle != 0)
    }
    /// ingress or clsact.
    pub(crate) fn ingress(&self) -> Option<&Object> {
        self.of(What::Qdisc, true).next()
    }
    /// What treats packets that leave, or that arrive. Of an interface that is off, nothing of the kernel's own.
    pub(crate) fn side(&self, ingress: bool) -> Vec<&Object> {
        let all = self.objects.iter().filter(|o| is_ingress(o) == ingress);
        all.filter(|o| o.what != What::Qdisc || o.header.handle != 0).collect()
    }
    /// Whether two looks saw the same; else what is not.
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
        // The kernel gives an interface its own queue when it is switched on.
        if self.up == after.up && defaults(self) != defaults(after) {
            return Err(format!("the kernel's own queue of {} is another", self.name));
        }
        Ok(())
    }
    /// Names of queue disciplines that are in use.
    pub(crate) fn has_major(&self, major: u16) -> bool {
        self.objects.iter().any(|o| o.what == What::Qdisc && Handle(o.header.handle).major() == major)
    }
}

fn describe(object: &Object) -> String {
    let place = Handle(object.header.handle);
    match object.what {
        What::Qdisc => format!("the queue discipline {place} {}", object.kind()),
        What::Class => format!("the class {place} {}", object.kind()),
        What::Filter => format!("a filter {} of {}", object.kind(), Handle(object.header.parent)),
    }
}

/// Whether it treats packets that arrive, or hangs on what does.
pub(crate) fn is_ingress(object: &Object) -> bool {
    let header = object.header;
    let place = if object.what == What::Filter { header.parent } else { header.handle };
    Handle(place).qdisc() == Handle::INGRESS_QDISC
}

/// What may have filters: each queue discipline with a name, each class of it; clsact by its two hooks.
fn parents(qdiscs: &[Object], classes: &[Object]) -> Vec<Handle> {
    let mut all = Vec::new();
    for qdisc in qdiscs.iter().filter(|q| q.header.handle != 0) {
        match qdisc.kind().as_str() {
            "clsact" => all.extend([Handle::CLSACT_INGRESS, Handle::CLSACT_EGRESS]),
            // These have none, and say so with an error.
            "tbf" | "pfifo" | "bfifo" | "pfifo_fast" | "mq" | "noqueue" | "cake_mq" => {}
            _ => all.push(Handle(qdisc.header.handle)),
        }
    }
    all.extend(classes.iter().map(|class| Handle(class.header.handle)));
    all
}
