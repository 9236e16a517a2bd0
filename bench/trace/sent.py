"""Retransmissions of both ends of a cell, as frame numbers in the captures at their interfaces.

This is simple: at the sender's own interface, a segment that does not begin where all before it
ended was sent before.
"""
import struct

RECORD, TCP, SYN_FIN = struct.Struct("<IIII"), 6, 0x03
HEADER_BYTES = 24


def segments(path):
    """Frame number, flow, first byte and end of every TCP segment that consumes sequence numbers.
    """
    with open(path, "rb") as file:
        data = file.read()
    at, frame = HEADER_BYTES, 0
    while at + RECORD.size <= len(data):
        _, _, stored, _ = RECORD.unpack_from(data, at)
        ip, at, frame = at + RECORD.size, at + RECORD.size + stored, frame + 1
        if data[ip] >> 4 == 4:
            transport, protocol = ip + (data[ip] & 15) * 4, data[ip + 9]
            end, hosts = ip + int.from_bytes(data[ip + 2:ip + 4], "big"), data[ip + 12:ip + 20]
        else:
            transport, protocol = ip + 40, data[ip + 6]
            end, hosts = ip + 40 + int.from_bytes(data[ip + 4:ip + 6], "big"), data[ip + 8:ip + 40]
        if protocol != TCP:
            continue
        sequence = int.from_bytes(data[transport + 4:transport + 8], "big")
        offset, flags = data[transport + 12] >> 4, data[transport + 13]
        length = end - transport - 4 * offset + bin(flags & SYN_FIN).count("1")
        if length:
            yield frame, hosts + data[transport:transport + 4], sequence, length


def again(path, source):
    """Frames retransmitted by `source`, the first bytes of a flow."""
    ahead, frames = {}, set()
    for frame, flow, sequence, length in segments(path):
        if not flow.startswith(source):
            continue
        end = (sequence + length) & 0xFFFFFFFF
        expected = ahead.get(flow)
        if expected is None or (sequence - expected) & 0xFFFFFFFF < 1 << 31:
            ahead[flow] = end
        else:
            frames.add(frame)
            if (end - expected) & 0xFFFFFFFF < 1 << 31:
                ahead[flow] = end
    return frames
