"""What `release/package.py` makes of a binary: each package is built, installed from the built file, without a network, into a place of
its own, and the squall that it installed runs a plan. docs/develop/packages.md has the table. Installing as distributions do needs root."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv
import zipfile
from pathlib import Path

from peers import PATIENCE, SQUALL, until

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "release"), str(ROOT / "interop/packages")]

from action import ACTION, act, evaluated
from formats import elf

VERSION = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
BINARY = elf.read(SQUALL)
PLAN = """
target: builtin
scenarios: {one: {load: {users: 1, iterations: 3}, steps: [{get: /items}]}}
"""
# What a threshold says that cannot hold.
FAILING = PLAN + "thresholds: [error_rate > 50%]\n"
# A program for another processor, as far as packages look at it: a head without anything that is loaded, so that it is static.
FOREIGN = b"\x7fELF\x02\x01\x01" + bytes(9) + (2).to_bytes(2, "little") + (183).to_bytes(2, "little") + bytes(44)

as_root = unittest.skipUnless(os.geteuid() == 0, "needs root")


def needs(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    return unittest.skipIf(missing, f"there is no {', '.join(missing)}")


def said(*command, **options):
    """What a command prints; it must end well."""
    ran = subprocess.run(command, capture_output=True, text=True, timeout=5 * PATIENCE, check=False, **options)
    if ran.returncode != 0:
        raise AssertionError(f"{command} ended with {ran.returncode}:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return ran.stdout


def package(binary, out, *more):
    said(sys.executable, ROOT / "release/package.py", binary, "--out", out, *more)


def setUpModule():
    global OUT
    folder = tempfile.TemporaryDirectory(prefix="squall-packages-")
    unittest.addModuleCleanup(folder.cleanup)
    OUT = Path(folder.name)
    package(SQUALL, OUT)


def made(pattern, folder=None):
    """The one file of a name."""
    found = list((folder or OUT).glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"expected one {pattern} in {sorted(path.name for path in (folder or OUT).iterdir())}")
    return found[0]


class Packages(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="squall-interop-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def runs(self, *command):
        """squall, as a command starts it, says its version, and runs a plan."""
        self.assertTrue(said(*command, "--version").startswith(f"squall {VERSION}"))
        (self.folder / "plan.yaml").write_text(PLAN)
        self.judge(said(*command, "run", "plan.yaml", "--quiet", "--json", "-", cwd=self.folder))

    def judge(self, result):
        totals = json.loads(result)["totals"]
        self.assertEqual((totals["count"], totals["errors"]), (3, 0))

    def laid_out(self, root, licences, zsh):
        """What a distribution has besides the binary."""
        share = root / "usr/share"
        self.assertIn(".TH squall 1", gzip.decompress((share / "man/man1/squall.1.gz").read_bytes()).decode())
        self.assertTrue((share / "man/man1/squall-baseline-save.1.gz").exists())
        self.assertIn("complete", (share / "bash-completion/completions/squall").read_text())
        self.assertTrue((share / zsh / "_squall").read_text().startswith("#compdef squall"))
        self.assertIn("complete -c squall", (share / "fish/vendor_completions.d/squall.fish").read_text())
        self.assertIn("Apache License", (share / licences / "LICENSE-APACHE").read_text())
        self.assertIn("MIT License", (share / licences / "LICENSE-MIT").read_text())
        self.assertIn("\ntokio 1.", (share / licences / "THIRD-PARTY.txt").read_text())
        said(root / "usr/bin/squall", "check", share / "doc/squall/examples/first.yaml")


class Distributions(Packages):
    @as_root
    @needs("dpkg")
    def test_dpkg_installs_it_and_removes_it(self):
        root = self.folder / "root"
        for part in ("info", "updates"):
            (root / "var/lib/dpkg" / part).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        # There is no package in this root that what is not static could depend on.
        dpkg = ["dpkg", f"--root={root}", "--force-depends"]
        said(*dpkg, "--install", made("squall_*.deb"))
        self.runs(root / "usr/bin/squall")
        self.laid_out(root, "doc/squall", "zsh/vendor-completions")
        said(*dpkg, "--purge", "squall")
        self.assertFalse((root / "usr/bin/squall").exists())

    @needs("dpkg-deb")
    def test_debs_fields(self):
        fields = said("dpkg-deb", "--field", made("squall_*.deb"))
        self.assertIn("Package: squall\n", fields)
        self.assertIn(f"Version: {VERSION}-1\n", fields)
        self.assertIn(f"Architecture: {BINARY.processor.debian}\n", fields)
        self.assertEqual("Depends: libc6 (>= 2." in fields, BINARY.glibc is not None)

    @as_root
    @needs("rpm", "rpmbuild")
    def test_rpm_installs_it_and_removes_it(self):
        root = self.folder / "root"
        root.mkdir()
        rpm = ["rpm", "--root", root]
        said(*rpm, "--initdb")
        said(*rpm, "--install", "--nodeps", made("squall-*.rpm"))
        self.runs(root / "usr/bin/squall")
        self.laid_out(root, "licenses/squall", "zsh/site-functions")
        self.assertEqual(said(*rpm, "--query", "squall").strip(), f"squall-{VERSION}-1.{BINARY.processor.rust}")
        said(*rpm, "--erase", "squall")
        self.assertFalse((root / "usr/bin/squall").exists())

    def test_the_archive_has_it_all(self):
        with tarfile.open(made("squall-*.tar.gz")) as archive:
            archive.extractall(self.folder, filter="data")
        folder = self.folder / f"squall-{VERSION}-{BINARY.target}"
        self.runs(folder / "squall")
        names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        self.assertLessEqual({"man/squall.1", "man/squall-run.1", "completions/squall.bash", "completions/squall.zsh", "completions/squall.fish",
                              "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"}, names)

    def test_the_same_binary_makes_the_same_packages(self):
        package(SQUALL, self.folder, "wheel", "npm", "sbom")
        for file in self.folder.iterdir():
            self.assertEqual(file.read_bytes(), (OUT / file.name).read_bytes(), file.name)


class Registries(Packages):
    def test_pip_installs_it(self):
        venv.create(self.folder / "venv", with_pip=True)
        pip = [self.folder / "venv/bin/python", "-m", "pip"]
        said(*pip, "install", "--no-index", "--no-deps", made("squall_load-*.whl"))
        self.runs(self.folder / "venv/bin/squall")
        self.assertTrue((self.folder / "venv/share/man/man1/squall-run.1").exists())
        said(*pip, "check")
        said(*pip, "uninstall", "--yes", "squall-load")
        self.assertFalse((self.folder / "venv/bin/squall").exists())

    @needs("npm")
    def test_npm_installs_it(self):
        files = [made("squall-load-[0-9]*.tgz"), made("squall-load-linux-*.tgz")]
        npm = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--prefix", self.folder]
        said(*npm, *files)
        self.runs(self.folder / "node_modules/.bin/squall")
        said(*npm, "--global", *files)
        self.runs(self.folder / "bin/squall")

    @needs("npm")
    def test_what_npm_starts_is_squall_itself(self):
        """Signals and exit codes are squall's own, as there is no other process."""
        said("npm", "install", "--offline", "--no-audit", "--no-fund", "--prefix", self.folder, *OUT.glob("squall-load-*.tgz"))
        start = self.folder / "node_modules/.bin/squall"
        process = subprocess.Popen([start, "target", "--listen", f"unix:{self.folder}/target"], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        program = self.folder / f"node_modules/squall-load-linux-{BINARY.processor.npm}/bin/squall"
        until(lambda: os.readlink(f"/proc/{process.pid}/exe") == str(program.resolve()), "squall takes the place of its start")
        shutil.rmtree(program.parent)
        refused = subprocess.run([start, "--version"], capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is missing", refused.stderr)


class Image(Packages):
    """The image, which podman builds, and runs with runc, with its own storage and in no cgroup of its own."""

    def podman(self, *arguments):
        return said("podman", "--root", self.folder / "images", "--runroot", self.folder / "running", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs",
                    "--runtime", "runc", *arguments)

    @as_root
    @needs("podman", "runc")
    def test_podman_runs_it_as_nobody(self):
        self.podman("load", "--quiet", "--input", made("squall-*.oci.tar"))
        settings = json.loads(self.podman("inspect", "--format", "{{json .Config}}", f"localhost/squall:{VERSION}"))
        self.assertEqual((settings["User"], settings["WorkingDir"]), ("65532:65532", "/work"))
        work = self.folder / "work"
        work.mkdir()
        work.chmod(0o1777)
        (work / "plan.yaml").write_text(PLAN)
        (work / "plan.yaml").chmod(0o644)
        # By itself podman asks for more than this machine may allow.
        limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"]
        run = ["run", "--rm", "--network", "none", *limits, "--volume", f"{work}:/work", f"localhost/squall:{VERSION}"]
        self.judge(self.podman(*run, "run", "plan.yaml", "--quiet", "--out", "runs", "--json", "-"))
        [folder] = (work / "runs").iterdir()
        self.assertEqual(folder.stat().st_uid, 65532)
        self.assertIn("Usage: squall", self.podman(*run))

    @needs("podman")
    def test_nothing_but_squall_is_in_it(self):
        with tarfile.open(made("squall-*.oci.tar")) as image:
            index = json.load(image.extractfile("index.json"))
            blob = lambda digest: image.extractfile(f"blobs/{digest.replace(':', '/')}")
            manifest = json.load(blob(index["manifests"][0]["digest"]))
            files = {}
            for layer in manifest["layers"]:
                with tarfile.open(fileobj=blob(layer["digest"])) as content:
                    files |= {entry.name.rstrip("/"): entry for entry in content}
        programs = {name for name, entry in files.items() if entry.isfile() and entry.mode & 0o111}
        self.assertEqual({name for name in programs if ".so" not in name}, {"usr/bin/squall"})
        self.assertLessEqual({"etc/ssl/certs/ca-certificates.crt", "usr/share/licenses/squall/THIRD-PARTY.txt"}, set(files))
        self.assertEqual([files[name].mode & 0o7777 for name in ("tmp", "work")], [0o1777, 0o1777])


class AnotherProcessor(Packages):
    """Packages of a static binary for a processor that is not this machine's."""

    def test_each_names_its_processor(self):
        binary = self.folder / "squall"
        binary.write_bytes(FOREIGN)
        out = self.folder / "out"
        package(binary, out, "--pages-from", SQUALL)
        names = {path.name for path in out.iterdir()}
        self.assertLessEqual({f"squall-{VERSION}-aarch64-unknown-linux-musl.tar.gz", f"squall-{VERSION}-aarch64-unknown-linux-musl.cdx.json",
                              f"squall_load-{VERSION}-py3-none-manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl", f"squall-load-linux-arm64-{VERSION}.tgz"}, names)
        with zipfile.ZipFile(made("*.whl", out)) as wheel:
            described = wheel.read(f"squall_load-{VERSION}.dist-info/WHEEL").decode()
        self.assertIn("Tag: py3-none-manylinux_2_17_aarch64\nTag: py3-none-musllinux_1_1_aarch64\n", described)
        with tarfile.open(made("squall-load-linux-*.tgz", out)) as archive:
            self.assertEqual(json.load(archive.extractfile("package/package.json"))["cpu"], ["arm64"])
        if shutil.which("dpkg-deb"):
            fields = said("dpkg-deb", "--field", made("*.deb", out))
            self.assertIn("Architecture: arm64\n", fields)
            self.assertNotIn("Depends:", fields)
        if shutil.which("rpmbuild"):
            self.assertEqual(said("rpm", "--query", "--queryformat", "%{ARCH}", "--package", made("*.rpm", out)), "aarch64")
        if shutil.which("podman"):
            made("squall-*-aarch64.oci.tar", out)

    def test_what_is_no_binary_is_refused(self):
        script = self.folder / "squall"
        for content, reason in ((b"#!/bin/sh\n", "expected a program for Linux"), (FOREIGN.replace(b"\xb7", b"\x08"), "found one for machine 8")):
            script.write_bytes(content)
            ran = subprocess.run([sys.executable, ROOT / "release/package.py", script, "--pages-from", SQUALL, "--out", self.folder], capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 1)
            self.assertIn(reason, ran.stderr)

    def test_what_does_not_run_here_needs_another_for_its_pages(self):
        binary = self.folder / "squall"
        binary.write_bytes(FOREIGN)
        binary.chmod(0o755)
        ran = subprocess.run([sys.executable, ROOT / "release/package.py", binary, "--out", self.folder / "out"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("does not run here (Exec format error): --pages-from", ran.stderr)


class Crates(unittest.TestCase):
    """The list of crates."""

    def setUp(self):
        self.file = made("squall-*.cdx.json")
        self.listed = json.loads(self.file.read_text())

    def test_every_crate_is_in_it_with_its_licence(self):
        tree = said("cargo", "tree", "--locked", "--package", "squall", "--edges", "normal,build", "--target", BINARY.target, "--prefix", "none",
                    "--no-dedupe", "--format", "{p}|{l}", cwd=ROOT)
        expected = {}
        for line in tree.splitlines():
            crate, licence = line.split("|")
            name, version = crate.split()[:2]
            expected[f"pkg:cargo/{name}@{version[1:]}"] = licence.replace("/", " OR ").replace("  ", " ")
        components = [self.listed["metadata"]["component"], *self.listed["components"]]
        self.assertEqual({part["purl"]: part["licenses"][0]["expression"] for part in components}, expected)
        self.assertGreater(len(expected), 100)

    def test_it_says_what_each_depends_on(self):
        references = {part["bom-ref"] for part in self.listed["components"]} | {self.listed["metadata"]["component"]["bom-ref"]}
        depends = {part["ref"]: part["dependsOn"] for part in self.listed["dependencies"]}
        self.assertEqual(set(depends), references)
        self.assertIn(f"pkg:cargo/squall-engine@{VERSION}", depends[f"pkg:cargo/squall@{VERSION}"])
        self.assertEqual({on for all_of_it in depends.values() for on in all_of_it}, references - {f"pkg:cargo/squall@{VERSION}"})

    def test_it_is_cyclonedx(self):
        try:
            from cyclonedx.schema import SchemaVersion
            from cyclonedx.validation.json import JsonStrictValidator
        except ImportError:
            self.skipTest("there is no cyclonedx-python-lib")
        self.assertIsNone(JsonStrictValidator(SchemaVersion.V1_6).validate_str(self.file.read_text()))


class Published(Packages):
    """What installs the archives of a release: a folder of them stands in for the release's page."""

    def setUp(self):
        super().setUp()
        self.releases = self.folder / "releases"
        unpacked = self.folder / "unpacked"
        self.releases.mkdir()
        with tarfile.open(made("squall-*.tar.gz")) as archive:
            archive.extractall(unpacked, filter="data")
        [self.unpacked] = unpacked.iterdir()
        # The archives of a release are static.
        self.unpacked = self.unpacked.rename(unpacked / f"squall-{VERSION}-{BINARY.processor.rust}-unknown-linux-musl")
        said("tar", "-C", unpacked, "-czf", self.releases / f"{self.unpacked.name}.tar.gz", self.unpacked.name)
        for processor in elf.PROCESSORS.values():
            if processor != BINARY.processor:
                (self.releases / f"squall-{VERSION}-{processor.rust}-unknown-linux-musl.tar.gz").write_text("another")
        sums = said("sh", "-c", "sha256sum ./*.tar.gz", cwd=self.releases)
        (self.releases / "SHA256SUMS").write_text(sums)

    @needs("ruby")
    def test_homebrews_formula(self):
        said(sys.executable, ROOT / "release/formula.py", "https://github.com/example/squall", self.releases)
        prefix = self.folder / "prefix"
        told = json.loads(said("ruby", ROOT / "interop/packages/formula.rb", self.releases / "squall.rb", prefix, cwd=self.unpacked))
        digests = dict(reversed(line.split("  ./")) for line in (self.releases / "SHA256SUMS").read_text().splitlines())
        self.assertEqual((told["version"], told["depends_on"], told["license"]), (VERSION, "linux", {"any_of": ["MIT", "Apache-2.0"]}))
        for processor, rust in (("on_intel", "x86_64"), ("on_arm", "aarch64")):
            name = f"squall-{VERSION}-{rust}-unknown-linux-musl.tar.gz"
            self.assertEqual(told[processor], {"url": f"https://github.com/example/squall/releases/download/v{VERSION}/{name}", "sha256": digests[name]})
        self.runs(prefix / "bin/squall")
        for file in ("share/man/man1/squall-run.1", "etc/bash_completion.d/squall", "share/zsh/site-functions/_squall", "share/fish/vendor_completions.d/squall.fish"):
            self.assertTrue((prefix / file).exists(), file)

    def test_a_formula_needs_both_archives(self):
        sums = self.releases / "SHA256SUMS"
        sums.write_text(sums.read_text().splitlines()[0] + "\n")
        ran = subprocess.run([sys.executable, ROOT / "release/formula.py", "https://github.com/example/squall", self.releases], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("expected the archives of one version", ran.stderr)

    def act(self, plan):
        """Runs the GitHub Action's steps, one after the other; returns the last one's exit code, and what they left for the job."""
        (self.folder / "plan.yaml").write_text(plan)
        return act({"plan": "plan.yaml", "arguments": "--label 'of=the action'", "releases": self.releases.as_uri()}, self.folder)

    @needs("curl")
    def test_the_action_installs_squall_and_runs_a_plan(self):
        code, outputs = self.act(PLAN)
        self.assertEqual(code, 0, outputs)
        result = json.loads((self.folder / outputs["folder"] / "run.json").read_text())
        self.assertEqual((result["totals"]["count"], result["meta"]["labels"]["of"]), (3, "the action"))
        self.assertIn("passed", outputs["summary"])

    @needs("curl")
    def test_the_action_fails_with_its_plan(self):
        code, outputs = self.act(FAILING)
        self.assertEqual(code, 1, outputs)
        self.assertIn("error_rate", outputs["summary"])
        self.assertIn("::error", outputs["log"])

    @needs("curl")
    def test_the_action_says_that_a_plan_is_refused(self):
        code, outputs = self.act(PLAN + "unknown: 1\n")
        self.assertEqual(code, 2, outputs)
        self.assertIn("plan.yaml:4", outputs["log"])
        self.assertNotIn("folder", outputs)

    @needs("curl")
    def test_the_action_refuses_another_archive(self):
        with (self.releases / f"{self.unpacked.name}.tar.gz").open("ab") as archive:
            archive.write(b"more")
        code, outputs = self.act(PLAN)
        self.assertEqual(code, 1, outputs)
        self.assertIn("checksum did NOT match", outputs["log"])
        self.assertNotIn("folder", outputs)

    def test_the_action_has_this_version(self):
        self.assertEqual(ACTION["inputs"]["version"]["default"], VERSION)
        self.assertEqual(evaluated(ACTION["runs"]["steps"][0]["env"]["RELEASES"],
                                   {"inputs.releases": "", "inputs.version": "1.2.3", "github.action_repository": "example/squall"}),
                         "https://github.com/example/squall/releases/download/v1.2.3")


@needs("mvn", "java")
class Maven(Packages):
    """The example of a build that runs a plan in a profile."""

    def build(self, *more):
        shop = self.folder / "shop"
        shutil.copytree(ROOT / "examples/maven", shop, dirs_exist_ok=True)
        command = ["mvn", "-B", "-q", "verify", f"-Dsquall={Path(SQUALL).resolve()}", *more]
        return shop / "target", subprocess.run(command, cwd=shop, capture_output=True, text=True, timeout=5 * PATIENCE, check=False)

    def test_the_profile_runs_the_plan(self):
        target, done = self.build("-Pload")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        [run] = (target / "squall").iterdir()
        self.assertEqual(json.loads((run / "run.json").read_text())["totals"]["count"], 40)
        self.assertIn("<testsuite", (target / "squall.xml").read_text())

    def test_the_build_fails_with_the_plan(self):
        plan = self.folder / "failing.yaml"
        plan.write_text(FAILING)
        _, done = self.build("-Pload", f"-Dplan={plan}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("exited with an error: 1", done.stdout)

    def test_without_the_profile_nothing_runs(self):
        target, done = self.build()
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        self.assertFalse((target / "squall").exists())


@needs("rustc", "git")
class Commit(Packages):
    """The build script that tells `squall --version` the commit."""

    def setUp(self):
        super().setUp()
        self.script = self.folder / "script"
        said("rustc", "--edition", "2024", "-o", self.script, ROOT / "crates/cli/build.rs", env=os.environ | {"CARGO_PKG_VERSION": "1.2.3"})
        self.sources = self.folder / "sources"
        self.sources.mkdir()
        shutil.copy(ROOT / "crates/cli/build.rs", self.sources)

    def git(self, *arguments):
        who = {f"GIT_{who}_{what}": "a@b.test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return said("git", *arguments, cwd=self.sources, env=os.environ | who | {"GIT_COMMITTER_DATE": "2026-11-28T12:00:00+0000"}).strip()

    def build(self, **environment):
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_") and name != "SQUALL_COMMIT"}
        lines = said(self.script, cwd=self.sources, env=clean | {"GIT_CEILING_DIRECTORIES": str(self.folder)} | environment).splitlines()
        [version] = [line.split("=", 2)[2] for line in lines if line.startswith("cargo::rustc-env=SQUALL_VERSION=")]
        return version, [line.split("=", 1)[1] for line in lines if line.startswith("cargo::rerun-if-changed=")]

    def test_sources_without_git_have_their_version(self):
        self.assertEqual(self.build(), ("1.2.3", ["build.rs"]))

    def test_sources_of_git_have_their_commit_and_see_the_next_one(self):
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "one")
        version, watched = self.build()
        self.assertEqual(version, f"1.2.3 ({self.git('rev-parse', '--short=8', 'HEAD')} 2026-11-28)")
        before = [(self.sources / file).read_bytes() for file in watched]
        self.git("commit", "--quiet", "--allow-empty", "--message", "two")
        self.assertNotEqual([(self.sources / file).read_bytes() for file in watched], before)
        self.assertEqual(self.build()[0], f"1.2.3 ({self.git('rev-parse', '--short=8', 'HEAD')} 2026-11-28)")

    def test_sources_in_a_repository_of_something_else_have_no_commit(self):
        self.git("init", "--quiet")
        self.git("commit", "--quiet", "--allow-empty", "--message", "something else")
        self.assertEqual(self.build(), ("1.2.3", ["build.rs"]))

    def test_who_builds_may_tell_the_commit(self):
        self.assertEqual(self.build(SQUALL_COMMIT="abcdef12 2026-11-28")[0], "1.2.3 (abcdef12 2026-11-28)")
        self.assertEqual(self.build(SQUALL_COMMIT="")[0], "1.2.3")


if __name__ == "__main__":
    unittest.main()
