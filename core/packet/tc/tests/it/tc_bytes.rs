//! No bytes in an answer make parsing panic, and what was parsed can be requested.
use fathom_tc::{Answer, Filter, HtbClass, Link, Object, Qdisc, Request, Verb, answers, messages};

pub(crate) fn check(bytes: &[u8]) {
    for (_, answer) in answers(bytes) {
        if let Answer::Refused(refusal) = answer {
            assert!(refusal.errno > 0 && !refusal.to_string().is_empty());
        }
    }
    for message in messages(bytes) {
        if let Some(link) = Link::read(&message) {
            assert!(link.name.len() < bytes.len());
        }
        if let Some(object) = Object::read(&message) {
            object_holds(&object);
        }
    }
}

fn object_holds(object: &Object) {
    let _ = (object.stats(), object.to_make_again());
    let settled = object.without_counters();
    assert_eq!(settled.without_counters(), settled, "what is constant stays");
    let again = Request::Again { device: "eth0".into(), object: settled.clone() };
    let sent = again.encode(1, &|_| Some(object.header.interface)).unwrap();
    let reread = Object::read(&messages(&sent).next().unwrap()).unwrap();
    assert_eq!(reread.attributes, settled.attributes, "given back byte by byte");
    let _ = again.to_string();
    if let Some(qdisc) = Qdisc::read(object) {
        let _ = Request::Qdisc { verb: Verb::Add, device: "eth0".into(), qdisc }.encode(1, &|_| Some(1));
    }
    if let Some(class) = HtbClass::read(object) {
        let _ = Request::Class { verb: Verb::Add, device: "eth0".into(), class }.encode(1, &|_| Some(1));
    }
    if let Some(filter) = Filter::read(object) {
        let _ = Request::Filter { device: "eth0".into(), filter }.encode(1, &|_| Some(1));
    }
}
