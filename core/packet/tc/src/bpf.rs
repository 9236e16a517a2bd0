//! Classic BPF, and a flow classifier for queue disciplines that have none.
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// One instruction (`struct sock_filter`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Operation code.
    pub code: u16,
    /// Instructions to skip if a comparison is true.
    pub jump_true: u8,
    /// Instructions to skip if it is false.
    pub jump_false: u8,
    /// Constant, offset or distance.
    pub k: u32,
}

impl Instruction {
    pub(crate) const BYTES: usize = 8;
    pub(crate) fn encode(&self) -> [u8; Instruction::BYTES] {
        let (code, k) = (self.code.to_ne_bytes(), self.k.to_ne_bytes());
        [code[0], code[1], self.jump_true, self.jump_false, k[0], k[1], k[2], k[3]]
    }
    pub(crate) fn decode(bytes: &[u8]) -> Option<Instruction> {
        let code = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
        let k = u32::from_ne_bytes(bytes.get(4..8)?.try_into().ok()?);
        Some(Instruction { code, jump_true: *bytes.get(2)?, jump_false: *bytes.get(3)?, k })
    }
}

/// Operation codes: accumulator A, index X, memory M. Source: linux/bpf_common.h, linux/filter.h.
pub mod code {
    /// A = 32 bits at k.
    pub const LOAD_WORD: u16 = 0x20;
    /// A = 32 bits at X + k.
    pub const LOAD_WORD_X: u16 = 0x40;
    /// A = 16 bits at X + k.
    pub const LOAD_HALF_X: u16 = 0x48;
    /// A = 8 bits at X + k.
    pub const LOAD_BYTE_X: u16 = 0x50;
    /// A = M\[k\].
    pub const LOAD_MEMORY: u16 = 0x60;
    /// X = k.
    pub const X_CONSTANT: u16 = 0x01;
    /// X = M\[k\].
    pub const X_MEMORY: u16 = 0x61;
    /// M\[k\] = A.
    pub const STORE: u16 = 0x02;
    /// M\[k\] = X.
    pub const STORE_X: u16 = 0x03;
    /// A += k.
    pub const ADD: u16 = 0x04;
    /// A += X.
    pub const ADD_X: u16 = 0x0c;
    /// A *= k.
    pub const MULTIPLY: u16 = 0x24;
    /// A &= k.
    pub const AND: u16 = 0x54;
    /// A <<= k.
    pub const SHIFT_LEFT: u16 = 0x64;
    /// A >>= k.
    pub const SHIFT_RIGHT: u16 = 0x74;
    /// Skips k instructions.
    pub const JUMP: u16 = 0x05;
    /// Compares A with k.
    pub const JUMP_EQUAL: u16 = 0x15;
    /// Returns k.
    pub const RETURN: u16 = 0x06;
    /// Returns A.
    pub const RETURN_A: u16 = 0x16;
    /// X = A.
    pub const TO_X: u16 = 0x07;
    /// A = X.
    pub const FROM_X: u16 = 0x87;
}

/// Base of offsets from the network header, for any link layer (`SKF_NET_OFF`).
pub const NETWORK: u32 = 0xfff0_0000;
/// Offset of the `EtherType` known to the kernel (`SKF_AD_OFF + SKF_AD_PROTOCOL`).
pub const PROTOCOL: u32 = 0xffff_f000;

/// 2^32 / golden ratio, made odd: Knuth's hash. Upper bits depend on all lower ones.
const GOLDEN: u32 = 0x9e37_79b1;

/// Protocols with ports or similar first: TCP, UDP, DCCP, ESP (its SPI), SCTP, UDP-Lite.
const WITH_PORTS: [u32; 6] = [6, 17, 33, 50, 132, 136];

const FLAGS: u32 = 0;
const NEXT: u32 = 1;
const HASH: u32 = 2;
const START: u32 = 3;

/// A program that maps each flow to one of `2^bits` classes from `first` (as a 32-bit number) on.
/// It hashes addresses, protocol and ports; for fragments, addresses and protocol; for IPv6 with
/// other headers, the flow label (RFC 6437). It skips up to two VLAN tags, and PPPoE. Other packets
/// are left to other filters or to the default class.
///
/// # Panics
/// If `bits` is 0 or above 15.
#[must_use]
pub fn flow_hash(first: u32, bits: u32) -> Vec<Instruction> {
    assert!((1..16).contains(&bits), "expected 2 to 32768 classes");
    let mut program = Assembler::default();
    network(&mut program);
    v4(&mut program);
    v6(&mut program);
    program.label("end").op(code::LOAD_MEMORY, NEXT).mix();
    program.op(code::SHIFT_RIGHT, 32 - bits).op(code::ADD, first).op(code::RETURN_A, 0);
    program.finish()
}

/// Sets X to the offset of IP. If hardware removed a tag, the kernel reports the inner EtherType.
fn network(program: &mut Assembler) {
    const VLAN: [u32; 2] = [0x8100, 0x88a8];
    program.op(code::LOAD_WORD, PROTOCOL).op(code::X_CONSTANT, 0);
    program.jump_if(VLAN[0], "tag").jump_if(VLAN[1], "tag").jump("inside");
    program.label("tag").op(code::LOAD_HALF_X, NETWORK + 2).op(code::X_CONSTANT, 4);
    program.jump_if(VLAN[0], "second tag").jump("inside");
    program.label("second tag").op(code::LOAD_HALF_X, NETWORK + 2).op(code::X_CONSTANT, 8);
    program.label("inside").jump_if(0x0800, "IPv4").jump_if(0x86dd, "IPv6").jump_if(0x8864, "PPPoE");
    program.op(code::RETURN, 0);
    // Six bytes of PPPoE, then two of PPP, the protocol (RFC 2516).
    program.label("PPPoE").op(code::LOAD_HALF_X, NETWORK + 6).op(code::STORE, NEXT);
    program.op(code::FROM_X, 0).op(code::ADD, 8).op(code::TO_X, 0).op(code::LOAD_MEMORY, NEXT);
    program.jump_if(0x0021, "IPv4").jump_if(0x0057, "IPv6").op(code::RETURN, 0);
}

fn v4(program: &mut Assembler) {
    const MORE_OR_OFFSET: u32 = 0x3fff;
    program.label("IPv4").op(code::STORE_X, START);
    program.op(code::LOAD_HALF_X, NETWORK + 6).op(code::AND, MORE_OR_OFFSET).op(code::STORE, FLAGS);
    program.op(code::LOAD_BYTE_X, NETWORK + 9).op(code::STORE, NEXT);
    program.op(code::LOAD_WORD_X, NETWORK + 12).op(code::MULTIPLY, GOLDEN).op(code::STORE, HASH);
    program.word(16).op(code::LOAD_MEMORY, FLAGS).jump_if(0, "whole").jump("end");
    program.label("whole").op(code::LOAD_MEMORY, NEXT);
    for protocol in WITH_PORTS {
        program.jump_if(protocol, "IPv4 ports");
    }
    // The ports follow the header and its options.
    program.jump("end").label("IPv4 ports").op(code::X_MEMORY, START).op(code::LOAD_BYTE_X, NETWORK);
    program.op(code::AND, 0xf).op(code::SHIFT_LEFT, 2).op(code::ADD_X, 0).op(code::TO_X, 0);
    program.op(code::LOAD_WORD_X, NETWORK).mix().jump("end");
}

fn v6(program: &mut Assembler) {
    const HEADER_BYTES: u32 = 40;
    const FLOW_LABEL: u32 = 0xf_ffff;
    program.label("IPv6").op(code::STORE_X, START).op(code::LOAD_BYTE_X, NETWORK + 6).op(code::STORE, NEXT);
    program.op(code::LOAD_WORD_X, NETWORK + 8).op(code::MULTIPLY, GOLDEN).op(code::STORE, HASH);
    for offset in (12..HEADER_BYTES).step_by(4) {
        program.word(offset);
    }
    program.op(code::LOAD_MEMORY, NEXT);
    for protocol in WITH_PORTS {
        program.jump_if(protocol, "IPv6 ports");
    }
    program
        .op(code::X_MEMORY, START)
        .op(code::LOAD_WORD_X, NETWORK)
        .op(code::AND, FLOW_LABEL)
        .mix()
        .jump("end");
    program.label("IPv6 ports").word(HEADER_BYTES);
}

/// Assembles instructions, with labels instead of distances.
#[derive(Default)]
struct Assembler {
    instructions: Vec<(Instruction, Option<&'static str>)>,
    labels: BTreeMap<&'static str, usize>,
}

impl Assembler {
    fn op(&mut self, code: u16, k: u32) -> &mut Self {
        self.instructions.push((Instruction { code, jump_true: 0, jump_false: 0, k }, None));
        self
    }
    fn label(&mut self, name: &'static str) -> &mut Self {
        self.labels.insert(name, self.instructions.len());
        self
    }
    fn jump(&mut self, to: &'static str) -> &mut Self {
        self.go(code::JUMP, 0, to)
    }
    fn jump_if(&mut self, k: u32, to: &'static str) -> &mut Self {
        self.go(code::JUMP_EQUAL, k, to)
    }
    fn go(&mut self, code: u16, k: u32, to: &'static str) -> &mut Self {
        self.instructions.push((Instruction { code, jump_true: 0, jump_false: 0, k }, Some(to)));
        self
    }
    /// Mixes A into the hash.
    fn mix(&mut self) -> &mut Self {
        self.op(code::X_MEMORY, HASH).op(code::ADD_X, 0).op(code::MULTIPLY, GOLDEN).op(code::STORE, HASH)
    }
    /// Mixes the word at `offset` of the IP packet into the hash.
    fn word(&mut self, offset: u32) -> &mut Self {
        self.op(code::X_MEMORY, START).op(code::LOAD_WORD_X, NETWORK + offset).mix()
    }
    /// # Panics
    /// If a label is missing or more than 255 instructions away: a mistake in this file.
    fn finish(self) -> Vec<Instruction> {
        let Assembler { instructions, labels } = self;
        let resolve = |(at, (mut instruction, to)): (usize, (Instruction, Option<&'static str>))| {
            if let Some(name) = to {
                let distance = labels[name] - at - 1;
                match instruction.code {
                    code::JUMP => instruction.k = u32::try_from(distance).expect("the program is short"),
                    _ => instruction.jump_true = u8::try_from(distance).expect("the label is near"),
                }
            }
            instruction
        };
        instructions.into_iter().enumerate().map(resolve).collect()
    }
}
