"""The licence texts of all crates in squall, which have to go with a binary: each text once, after the crates that are under it."""

import re

NAMES = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICENSE)([-._].*)?", re.IGNORECASE)
LINE = "=" * 80


def texts(crate):
    """The texts of a crate: in its folder, and in those in it, where the code of others is."""
    for file in sorted([*crate.folder.glob("*"), *crate.folder.glob("*/*")]):
        if file.is_file() and NAMES.fullmatch(file.name) and file.suffix not in (".rs", ".html"):
            yield file.read_text(errors="replace").strip()


def written(crates):
    """All of them as one text."""
    under, without = {}, []
    for crate in crates:
        if not crate.checksum:
            continue
        found = list(texts(crate))
        if not found:
            without.append(crate)
        for text in found:
            # The same words in other lines are the same text.
            under.setdefault(" ".join(text.split()), (text, []))[1].append(crate)
    parts = ["squall contains the following crates, under these licences.\n"]
    if without:
        parts.append(f"{LINE}\nWithout a text in their packages:\n\n{named(without)}\n")
    for text, crates_under in under.values():
        parts.append(f"{LINE}\n{named(crates_under)}\n\n{text}\n")
    return "\n".join(parts)


def named(crates):
    return "\n".join(sorted({f"{crate.name} {crate.version} ({crate.licence})" for crate in crates}))
