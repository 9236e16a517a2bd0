"""Checks a universal program for macOS. Sources: mach-o/fat.h and mach-o/loader.h of XNU, and
kern/cs_blobs.h for the signature, whose hashes the kernel compares before it runs a page."""

import hashlib
import struct
import sys

PROCESSORS = {0x01000007: "x86_64", 0x0100000C: "arm64"}
OLDEST = (11, 0)
LIBRARIES = {
    "/usr/lib/libSystem.B.dylib",
    "/usr/lib/libiconv.2.dylib",
    "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
    "/System/Library/Frameworks/Security.framework/Versions/A/Security",
}
FAT_MAGIC, MACH_MAGIC, EXECUTABLE = 0xCAFEBABE, 0xFEEDFACF, 2
LOAD_LIBRARY, SIGNATURE, BUILD_VERSION = 0xC, 0x1D, 0x32
SUPER_BLOB, CODE_DIRECTORY, AD_HOC, SHA256 = 0xFADE0CC0, 0xFADE0C02, 2, 2


def check(condition, message):
    if not condition:
        sys.exit(f"check: {message}")


def signature(program, at):
    """Whether the hash of each page is that in the signature."""
    magic, _, count = struct.unpack_from(">3I", program, at)
    check(magic == SUPER_BLOB, "no signature")
    for n in range(count):
        _, offset = struct.unpack_from(">2I", program, at + 12 + 8 * n)
        start = at + offset
        if struct.unpack_from(">I", program, start)[0] == CODE_DIRECTORY:
            break
    else:
        check(False, "the signature has no hashes")
    flags, hashes, _, _, pages, limit = struct.unpack_from(">6I", program, start + 12)
    size, kind, _, page = struct.unpack_from("4B", program, start + 36)
    check(flags & AD_HOC and (size, kind) == (32, SHA256), f"signature: flags {flags:x}, hash {kind}")
    check(limit == at and pages == -(-limit >> page), "the signature does not cover the program")
    for n in range(pages):
        part = program[n << page : min((n + 1) << page, limit)]
        found = program[start + hashes + 32 * n :][:32]
        check(hashlib.sha256(part).digest() == found, f"page {n} differs from its signature")
    return pages


def processor(program):
    magic, _, _, kind, commands, _, _, _ = struct.unpack_from("<8I", program)
    check((magic, kind) == (MACH_MAGIC, EXECUTABLE), "not a program")
    at, pages, libraries, version = 32, 0, set(), None
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", program, at)
        if command == LOAD_LIBRARY:
            offset = struct.unpack_from("<I", program, at + 8)[0]
            libraries.add(program[at + offset : at + size].rstrip(b"\0").decode())
        elif command == BUILD_VERSION:
            number = struct.unpack_from("<I", program, at + 12)[0]
            version = (number >> 16, number >> 8 & 0xFF)
        elif command == SIGNATURE:
            pages = signature(program, struct.unpack_from("<I", program, at + 8)[0])
        at += size
    check(libraries <= LIBRARIES, f"needs {libraries - LIBRARIES}, which is not part of macOS")
    check(version == OLDEST, f"needs macOS {version}, not {OLDEST}")
    return pages


def main(path):
    with open(path, "rb") as file:
        whole = file.read()
    magic, count = struct.unpack_from(">2I", whole)
    check(magic == FAT_MAGIC, "not for several processors")
    found = []
    for n in range(count):
        kind, _, offset, size, align = struct.unpack_from(">5I", whole, 8 + 20 * n)
        name = PROCESSORS.get(kind, hex(kind))
        check(offset % (1 << align) == 0, f"{name} starts at {offset}")
        pages = processor(whole[offset : offset + size])
        # Processors of Intel do without.
        check(pages or name != "arm64", "arm64 is not signed")
        found.append(name)
        print(f"check: {name}, {size / 1e6:.1f} MB, {pages} signed pages")
    check(sorted(found) == sorted(PROCESSORS.values()), f"for {found}")


main(sys.argv[1])
