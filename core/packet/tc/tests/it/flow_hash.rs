//! Runs the flow hash in an interpreter of classic BPF, written from the kernel's manual, and
//! compares it with the same rules in Rust.
use fathom_tc::bpf::{Instruction, NETWORK, PROTOCOL, code, flow_hash};
use fathom_units::Rng;
use std::collections::BTreeMap;

const FIRST: u32 = 0x0001_0010;
const CLASSES: u32 = 64;

/// A packet as the kernel sees it: metadata, and the bytes from the network header on.
struct Packet {
    protocol: u32,
    bytes: Vec<u8>,
}

impl Packet {
    fn load(&self, at: u32, size: usize) -> Option<u32> {
        if at == PROTOCOL {
            return Some(self.protocol);
        }
        let at = at.wrapping_sub(NETWORK) as usize;
        let bytes = self.bytes.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }
}

fn run(program: &[Instruction], packet: &Packet) -> u32 {
    let (mut a, mut x, mut memory, mut at) = (0_u32, 0_u32, [0_u32; 16], 0);
    for _ in 0..4_096 {
        let Instruction { code, jump_true, jump_false, k } = program[at];
        at += 1;
        let load = |place: u32, size: usize| packet.load(place, size);
        let loaded = match code {
            code::LOAD_WORD => load(k, 4),
            code::LOAD_WORD_X => load(x.wrapping_add(k), 4),
            code::LOAD_HALF_X => load(x.wrapping_add(k), 2),
            code::LOAD_BYTE_X => load(x.wrapping_add(k), 1),
            code::LOAD_MEMORY => Some(memory[k as usize]),
            code::ADD => Some(a.wrapping_add(k)),
            code::ADD_X => Some(a.wrapping_add(x)),
            code::MULTIPLY => Some(a.wrapping_mul(k)),
            code::AND => Some(a & k),
            code::SHIFT_LEFT => Some(a << k),
            code::SHIFT_RIGHT => Some(a >> k),
            code::FROM_X => Some(x),
            _ => Some(a),
        };
        // A load beyond the packet returns 0.
        let Some(value) = loaded else { return 0 };
        a = value;
        match code {
            code::X_CONSTANT => x = k,
            code::X_MEMORY => x = memory[k as usize],
            code::TO_X => x = a,
            code::STORE => memory[k as usize] = a,
            code::STORE_X => memory[k as usize] = x,
            code::JUMP => at += k as usize,
            code::JUMP_EQUAL => at += usize::from(if a == k { jump_true } else { jump_false }),
            code::RETURN => return k,
            code::RETURN_A => return a,
            _ => {}
        }
    }
    panic!("the program does not end")
}

#[derive(Clone, PartialEq)]
struct Flow {
    v6: bool,
    from: [u8; 16],
    to: [u8; 16],
    protocol: u8,
    ports: [u8; 4],
    label: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Tags {
    None,
    Vlan,
    Double,
    Pppoe,
    VlanPppoe,
}

fn flow(rng: &mut Rng) -> Flow {
    let mut bytes = || [0; 16].map(|_: u8| rng.next_u64() as u8);
    let (from, to, more) = (bytes(), bytes(), bytes());
    let protocol = [6, 17, 50, 1, 47, 58][usize::from(more[0] % 6)];
    let ports = [more[1], more[2], more[3], more[4]];
    let label = u32::from_be_bytes([0, more[5] & 0xf, more[6], more[7]]);
    Flow { v6: more[8] % 2 == 0, from, to, protocol, ports, label }
}

impl Flow {
    /// `option_words`: IPv4 options; `fragment`: as in the header (more, offset).
    fn packet(&self, option_words: u8, fragment: u16, tags: Tags, noise: u8) -> Packet {
        let mut ip = if self.v6 { self.v6(noise) } else { self.v4(option_words, fragment, noise) };
        ip.extend(self.ports);
        ip.extend([noise; 8]);
        let (kind, ppp) = if self.v6 { (0x86dd, 0x57) } else { (0x0800, 0x21_u16) };
        let session = [&[0x11, 0, noise, 1, 0, 40][..], &ppp.to_be_bytes()].concat();
        let tag = |inside: u16| [&[noise, 7][..], &inside.to_be_bytes()].concat();
        let (protocol, before) = match tags {
            Tags::None => (kind, vec![]),
            Tags::Vlan => (0x8100, tag(kind)),
            Tags::Double => (0x88a8, [tag(0x8100), tag(kind)].concat()),
            Tags::Pppoe => (0x8864, session),
            Tags::VlanPppoe => (0x8100, [tag(0x8864), session].concat()),
        };
        Packet { protocol: u32::from(protocol), bytes: [before, ip].concat() }
    }
    fn v4(&self, option_words: u8, fragment: u16, noise: u8) -> Vec<u8> {
        let mut ip = vec![0x45 + option_words, noise, 0, 60, noise, noise];
        ip.extend(fragment.to_be_bytes());
        ip.extend([64, self.protocol, noise, noise]);
        ip.extend(&self.from[..4]);
        ip.extend(&self.to[..4]);
        ip.extend(vec![noise; usize::from(option_words) * 4]);
        ip
    }
    fn v6(&self, noise: u8) -> Vec<u8> {
        let mut ip = (6 << 28 | self.label).to_be_bytes().to_vec();
        ip.extend([0, 20, self.protocol, noise]);
        ip.extend(self.from);
        ip.extend(self.to);
        ip
    }
    /// The expected result of the program.
    fn class(&self, fragment: bool) -> u32 {
        let words = |bytes: &[u8]| {
            bytes.chunks(4).map(|w| u32::from_be_bytes(w.try_into().unwrap())).collect::<Vec<_>>()
        };
        let length = if self.v6 { 16 } else { 4 };
        let mut parts = [words(&self.from[..length]), words(&self.to[..length])].concat();
        let has_ports = [6, 17, 33, 50, 132, 136].contains(&self.protocol);
        match (has_ports && !fragment, self.v6) {
            (true, _) => parts.extend(words(&self.ports)),
            (false, true) => parts.push(self.label),
            (false, false) => {}
        }
        parts.push(u32::from(self.protocol));
        let hash = parts.iter().fold(0_u32, |hash, part| hash.wrapping_add(*part).wrapping_mul(0x9e37_79b1));
        FIRST + hash / (u32::MAX / CLASSES + 1)
    }
}

#[test]
fn the_class_of_a_flow_does_not_depend_on_encapsulation() {
    let seed = 3;
    println!("seed {seed}");
    let (mut rng, program) = (Rng::new(seed), flow_hash(FIRST, 6));
    println!("{} instructions", program.len());
    for _ in 0..5_000 {
        let flow = flow(&mut rng);
        for tags in [Tags::None, Tags::Vlan, Tags::Double, Tags::Pppoe, Tags::VlanPppoe] {
            let options = rng.below(11) as u8;
            let whole = flow.packet(options, 0x4000, tags, rng.next_u64() as u8);
            assert_eq!(run(&program, &whole), flow.class(false));
            let is_fragment = !flow.v6;
            for fragment in [0x2000, 0x2001, 0x1fff] {
                let part = flow.packet(options, fragment, tags, rng.next_u64() as u8);
                assert_eq!(run(&program, &part), flow.class(is_fragment), "fragment {fragment:#x}");
            }
        }
    }
}

#[test]
fn flows_spread_over_all_classes() {
    let program = flow_hash(FIRST, 6);
    // As in a household: few addresses, consecutive ports.
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    for host in 0..8_u8 {
        for port in 0..128_u16 {
            let [high, low] = (40_000 + port).to_be_bytes();
            let mut from = [0; 16];
            from[..4].copy_from_slice(&[192, 168, 1, 10 + host]);
            let flow =
                Flow { v6: false, from, to: [93; 16], protocol: 6, ports: [high, low, 1, 187], label: 0 };
            *seen.entry(run(&program, &flow.packet(0, 0, Tags::None, 0))).or_default() += 1;
        }
    }
    println!("{seen:?}");
    assert_eq!(seen.len(), CLASSES as usize);
    assert!(seen.keys().all(|class| (FIRST..FIRST + CLASSES).contains(class)));
    // 1024 flows, 16 per class: a fair hash is below 28 (3 standard deviations).
    assert!(seen.values().all(|flows| (1..=40).contains(flows)));
}

#[test]
fn other_protocols_and_truncated_packets_are_not_classified() {
    let program = flow_hash(FIRST, 6);
    let flow = Flow { v6: false, from: [1; 16], to: [2; 16], protocol: 6, ports: [1; 4], label: 0 };
    for protocol in [0x0806, 0x8863, 0] {
        assert_eq!(run(&program, &Packet { protocol, bytes: vec![0; 64] }), 0);
    }
    for v6 in [false, true] {
        let packet = Flow { v6, ..flow.clone() }.packet(2, 0, Tags::None, 0);
        let whole = if v6 { 44 } else { 32 };
        for length in 0..packet.bytes.len() {
            let cut = Packet { protocol: packet.protocol, bytes: packet.bytes[..length].to_vec() };
            assert_eq!(run(&program, &cut) == 0, length < whole, "{length} bytes");
        }
    }
}
