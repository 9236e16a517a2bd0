//! Flowtables of nf_tables: their connections bypass every qdisc.
use crate::exchange::list;
use fathom_audit::Tree;
use fathom_os::dump::Part;
use fathom_tc::{attributes, find};
use std::io;

/// Source: linux/netfilter/nf_tables.h, linux/netfilter/nfnetlink.h, linux/netlink.h.
mod number {
    /// `NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETFLOWTABLE`
    pub(super) const GET_FLOWTABLE: u16 = 10 << 8 | 23;
    pub(super) const REQUEST_DUMP: u16 = 0x301;
    pub(super) const TABLE: u16 = 1;
    pub(super) const NAME: u16 = 2;
    pub(super) const HOOK: u16 = 3;
    pub(super) const DEVICES: u16 = 3;
    pub(super) const DEVICE_NAME: u16 = 1;
    pub(super) const FLAGS: u16 = 7;
    pub(super) const IN_HARDWARE: u8 = 1;
}

/// Bytes of `struct nfgenmsg`.
const HEADER_BYTES: usize = 4;

/// Adds the flowtables of this namespace as `replies/flowtables`: one per line, with its
/// interfaces.
///
/// # Errors
/// If this kernel lacks nf_tables, or the user may not list them.
pub fn add_flowtables(tree: &mut Tree) -> io::Result<()> {
    let mut request = Vec::from(20_u32.to_ne_bytes());
    request.extend(number::GET_FLOWTABLE.to_ne_bytes());
    request.extend(number::REQUEST_DUMP.to_ne_bytes());
    // Sequence number, the kernel as receiver, and any address family.
    request.resize(20, 0);
    let replies = list(Part::Netfilter, &request)?;
    let lines: String = replies.iter().filter_map(|part| line(&part.body)).collect();
    tree.insert("replies/flowtables", lines.into_bytes());
    Ok(())
}

/// `TABLE NAME software|hardware DEVICE...`
fn line(body: &[u8]) -> Option<String> {
    let reply = body.get(HEADER_BYTES..)?;
    let (table, name) = (text(find(reply, number::TABLE)?), text(find(reply, number::NAME)?));
    let flags = find(reply, number::FLAGS).and_then(|flags| flags.last().copied()).unwrap_or(0);
    let whose = if flags & number::IN_HARDWARE != 0 { "hardware" } else { "software" };
    let devices = find(reply, number::HOOK).and_then(|hook| find(hook, number::DEVICES)).unwrap_or_default();
    let names = attributes(devices).filter(|device| device.number == number::DEVICE_NAME);
    let names: String = names.map(|device| format!(" {}", text(device.value))).collect();
    Some(format!("{table} {name} {whose}{names}\n"))
}

/// Without the trailing zero; characters that could end a line or word are replaced.
fn text(value: &[u8]) -> String {
    let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).replace(char::is_whitespace, "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::attribute;

    #[test]
    fn a_flow_table_with_its_interfaces() {
        let devices = [attribute(1, b"eth0\0"), attribute(1, b"lan 1\0")].concat();
        let hook = attribute(3, &attribute(3, &devices));
        let body = [vec![1, 0, 0, 0], attribute(1, b"fw4\0"), attribute(2, b"ft\0"), hook].concat();
        assert_eq!(line(&body).as_deref(), Some("fw4 ft software eth0 lan_1\n"));
        let in_hardware = [body, attribute(7, &1_u32.to_be_bytes())].concat();
        assert_eq!(line(&in_hardware).as_deref(), Some("fw4 ft hardware eth0 lan_1\n"));
        for odd in [vec![], vec![0; 4], vec![0xff; 40]] {
            assert_eq!(line(&odd), None);
        }
    }
}
