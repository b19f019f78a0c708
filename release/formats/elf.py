"""What a binary says of itself: its processor, and the C library that it needs."""

import re
from dataclasses import dataclass
from pathlib import Path

INTERPRETER = 3


@dataclass(frozen=True)
class Processor:
    """A processor, as Rust, rpm and wheels name it, and as others do."""

    rust: str
    debian: str
    npm: str


PROCESSORS = {62: Processor("x86_64", "amd64", "x64"), 183: Processor("aarch64", "arm64", "arm64")}


@dataclass(frozen=True)
class Binary:
    path: Path
    processor: Processor
    # The oldest glibc that it runs with; None: it is static, and runs on any Linux.
    glibc: tuple[int, int] | None

    @property
    def target(self):
        """Rust's name of what it was built for."""
        return f"{self.processor.rust}-unknown-linux-{'gnu' if self.glibc else 'musl'}"


def read(path):
    """Reads a binary of 64 bits, little-endian, for Linux; anything else is an error."""
    data = Path(path).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise SystemExit(f"{path}: expected a program for Linux with 64 bits")
    number = lambda offset, size: int.from_bytes(data[offset:offset + size], "little")
    machine = number(18, 2)
    if machine not in PROCESSORS:
        raise SystemExit(f"{path}: expected a program for x86_64 or aarch64, found one for machine {machine}")
    headers, size, count = number(32, 8), number(54, 2), number(56, 2)
    kinds = {number(headers + size * index, 4) for index in range(count)}
    versions = re.findall(rb"GLIBC_(\d+)\.(\d+)", data) if INTERPRETER in kinds else []
    glibc = max(((int(major), int(minor)) for major, minor in versions), default=(2, 17) if INTERPRETER in kinds else None)
    return Binary(Path(path), PROCESSORS[machine], glibc)
