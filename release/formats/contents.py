"""What goes into every package: the binary, man pages, completions, texts."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import crates, elf, notices

ROOT = crates.ROOT
SHELLS = ("bash", "zsh", "fish")
TEXTS = ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE")


@dataclass(frozen=True)
class Contents:
    version: str
    binary: elf.Binary
    # Seconds since 1970: the time of everything in a package, so that the same sources make the same package.
    epoch: int
    # With `man`, `completions` and `texts` in it.
    folder: Path
    # As crates.graph has them.
    crates: list
    depends: dict

    def pages(self):
        return sorted((self.folder / "man").iterdir())

    def completions(self, shell):
        return self.folder / "completions" / f"squall.{shell}"

    def texts(self):
        return sorted((self.folder / "texts").iterdir())

    def installed(self, root, licences, zsh):
        """Lays out what is installed below `root`, as distributions have it, with a folder for licences and one for zsh's completions."""
        share = root / "usr/share"
        put(self.binary.path, root / "usr/bin/squall", 0o755)
        for page in self.pages():
            put(page, share / "man/man1" / page.name)
        compress(*(share / "man/man1").iterdir())
        put(self.completions("bash"), share / "bash-completion/completions/squall")
        put(self.completions("zsh"), root / zsh / "_squall")
        put(self.completions("fish"), share / "fish/vendor_completions.d/squall.fish")
        for text in self.texts():
            is_licence = text.name.startswith(("LICENSE", "THIRD-PARTY"))
            put(text, (root / licences if is_licence else share / "doc/squall") / text.name)
        for example in ("first.yaml", "people.csv"):
            put(ROOT / "examples" / example, share / "doc/squall/examples" / example)


def put(source, target, mode=0o644):
    """Copies a file, with the folders that it needs."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def compress(*files):
    """Packs files in place, as distributions do with man pages."""
    subprocess.run(["gzip", "-9n", *files], check=True)


def settle(folder, epoch):
    """Everyone may read what is in a folder, whoever laid it out, and all of it has one time."""
    subprocess.run(["chmod", "-R", "u=rwX,go=rX", folder], check=True)
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def epoch():
    """SOURCE_DATE_EPOCH; or the time of the commit; or, without git, that of the list of changes."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    log = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False)
    return int(log.stdout) if log.returncode == 0 else int((ROOT / "CHANGELOG.md").stat().st_mtime)


def gather(binary, speaker, features, folder):
    """Gathers them in a folder. `speaker` is a binary of the same version that runs here, whatever `binary` was built for."""
    binary = elf.read(binary)

    def said(*arguments):
        try:
            return subprocess.run([speaker, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
        except OSError as reason:
            raise SystemExit(f"{speaker} does not run here ({reason.strerror}): --pages-from names a binary of the same version that does") from reason

    for part in ("man", "completions", "texts"):
        (folder / part).mkdir(parents=True)

    def write_pages(*names):
        (folder / "man" / f"{'-'.join(('squall', *names))}.1").write_text(said("man", *names))
        listed = re.search(r"^Commands:\n(.*?)(\n\n|\Z)", said("help", *names), re.MULTILINE | re.DOTALL)
        for command in re.findall(r"^  ([a-z]+) ", listed[1] if listed else "", re.MULTILINE):
            if command != "help":
                write_pages(*names, command)

    write_pages()
    for shell in SHELLS:
        (folder / "completions" / f"squall.{shell}").write_text(said("completions", shell))
    for text in TEXTS:
        shutil.copyfile(ROOT / text, folder / "texts" / text)
    listed, depends = crates.graph(binary.target, features)
    (folder / "texts/THIRD-PARTY.txt").write_text(notices.written(listed))
    version = said("--version").split()[1]
    return Contents(version, binary, epoch(), folder, listed, depends)
