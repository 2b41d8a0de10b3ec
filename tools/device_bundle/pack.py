"""Packs files into a tar whose bytes depend on nothing but their contents and places.

    pack.py OUT.tar MANIFEST

A line of the manifest is `mode<TAB>path in the archive<TAB>file`. Order, times and owners are fixed.
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

MAX_BYTES = 40 << 20


def pack(manifest: str) -> bytes:
    """The archive that a manifest describes.

    Raises:
        ValueError: two files have one place, or the archive is larger than 40 MiB.
    """
    members: dict[str, tuple[int, Path]] = {}
    for line in manifest.splitlines():
        mode, place, source = line.split("\t")
        if place in members and members[place][1] != Path(source):
            raise ValueError(f"two files for {place}: {members[place][1]} and {source}")
        members[place] = int(mode, 8), Path(source)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for place, (bits, file) in sorted(members.items()):
            data = file.read_bytes()
            info = tarfile.TarInfo(place)
            info.size, info.mode = len(data), bits
            archive.addfile(info, io.BytesIO(data))
    if len(buffer.getvalue()) > MAX_BYTES:
        largest = sorted(members, key=lambda place: -members[place][1].stat().st_size)[:5]
        raise ValueError(f"the archive has {len(buffer.getvalue())} bytes, more than {MAX_BYTES}; largest: {largest}")
    return buffer.getvalue()


def main(argv: list[str]) -> None:
    """Writes the archive."""
    out, manifest = map(Path, argv)
    out.write_bytes(pack(manifest.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(sys.argv[1:])
