"""The tests against real peers in lanes that run side by side. A lane whose files and tools are those of its last green
run, as `passed.json` has them, is skipped; one without a list of files never is. A lane that passes is put into `passed.json`,
which is committed with the change. One that does not has its failed tests run once more when nothing else runs.

Usage: lanes.py install [--all]     installs what the lanes that are not skipped need
       lanes.py run [--all] [LANE...] runs them; --all skips none; the lanes `together` are those that bear company, `alone` the others"""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PASSED = HERE / "passed.json"
LOGS = ROOT / "target/interop/logs"
PYTHON = ROOT / "target/interop/bin/python3"

# What every lane depends on: how it is run, what it is installed by, what squall is built of.
ALWAYS = ["interop/lanes.py", "interop/install.sh", "interop/run.sh", "interop/peers.py", "interop/ports.py", "Cargo.toml", "Cargo.lock"]


@dataclass
class Lane:
    modules: list = field(default_factory=list)
    # A command in the place of test modules.
    command: list = None
    # What install.sh installs for it.
    needs: list = field(default_factory=list)
    # Files and folders on which it depends; none: it is never skipped.
    files: list = field(default_factory=list)
    # Commands that say which versions of what is not pinned in those files it runs against.
    tools: list = field(default_factory=list)
    # Runs when no other lane does.
    alone: bool = False


FLEET = {
    "needs": ["nats"],
    "files": ["crates/base", "crates/engine", "crates/extract", "crates/fleet", "crates/front", "crates/load", "crates/metrics", "crates/plan",
              "crates/report/src", "crates/runner/src", "crates/wire", "crates/cli/src", "interop/test_fleet.py",
              "interop/test_fleet_commands.py", "interop/fleet.py"],
    "tools": [["rustc", "--version"], ["python3", "--version"]],
}

LANES = {
    "jmeter": Lane(
        modules=["test_jmeter", "test_jmeter_reached", "test_jmeter_transactions", "test_jmeter_maven"],
        needs=["jmeter"],
        files=["crates/base", "crates/load", "crates/metrics", "crates/jmeter", "crates/front", "crates/plan", "crates/extract", "crates/engine", "crates/wire", "crates/report/src/samples",
               "crates/cli/src/as_jmeter", "crates/runner/src", "interop/test_jmeter.py", "interop/test_jmeter_reached.py",
               "interop/test_jmeter_transactions.py", "interop/test_jmeter_maven.py", "interop/jmeter", "interop/jmeter_plans.py",
               "interop/maven", "bench/peers"],
        tools=[["java", "-version"], ["mvn", "--version"], ["openssl", "version"]],
    ),
    "feeds": Lane(
        modules=["test_feeds", "test_dashboards", "test_k6_outputs"],
        needs=["feeds"],
        files=["crates/base", "crates/metrics", "crates/plan", "crates/wire", "crates/engine", "crates/feeds", "crates/report/src",
               "crates/runner/src", "crates/cli/src", "crates/k6/src/output", "dashboards", "docs/feeds.md", "interop/test_feeds.py",
               "interop/test_dashboards.py", "interop/test_k6_outputs.py", "interop/prometheus", "interop/collector"],
        tools=[["node", "--version"], ["apt-cache", "policy", "influxdb"]],
    ),
    "k6": Lane(
        modules=["test_k6_oracle"],
        files=["crates/base", "crates/engine", "crates/front", "crates/k6", "crates/load", "crates/metrics", "crates/plan", "crates/quickjs",
               "crates/runner/src", "crates/script", "crates/wire", "crates/cli/src", "interop/test_k6_oracle.py", "interop/k6_oracle"],
        tools=[["node", "--version"]],
    ),
    "screens": Lane(modules=["test_live", "test_terminal", "test_ui", "test_page"]),
    "servers": Lane(modules=["test_nginx", "test_backend", "test_http2", "test_target", "test_schema", "test_counts", "test_guides", "test_install", "test_monitors"]),
    # Five, side by side: they wait for leases, and for loads to end.
    "fleet": Lane(modules=["test_fleet.Transport", "test_fleet_commands.BadInput", "test_fleet_commands.Commands"], **FLEET),
    "fleet-local": Lane(modules=["test_fleet_commands.Local", "test_fleet.Joined"], **FLEET),
    "fleet-stay": Lane(modules=["test_fleet.Kept"], **FLEET),
    "fleet-move": Lane(modules=["test_fleet.Moved"], **FLEET),
    "fleet-launchers": Lane(modules=["launchers.ssh.test_ssh", "launchers.kubernetes.test_permissions"], needs=["nats", "sshd"], tools=FLEET["tools"],
                      files=[*FLEET["files"], "interop/launchers/debian.sh", "interop/launchers/ssh",
                             "interop/launchers/kubernetes/test_permissions.py"]),
    "packages": Lane(
        modules=["test_packages"],
        needs=["packages"],
        files=["release", "examples", "crates/cli/build.rs", "crates/cli/Cargo.toml", "crates/cli/src/args", "crates/cli/src/shell.rs",
               "interop/test_packages.py", "interop/packages"],
        # These are there before anything is installed, so that nothing is where the lane is skipped.
        tools=[["dpkg-deb", "--version"], ["python3", "--version"]],
    ),
    # What is in no default build, and what that says.
    "features": Lane(
        command=["interop/features.sh"],
        files=["crates/base", "crates/metrics", "crates/wire/src/tls.rs", "crates/wire/src/tls", "crates/runner/src", "crates/report/src",
               "crates/cli/src", "crates/cli/Cargo.toml", "crates/runner/Cargo.toml", "crates/wire/Cargo.toml", "crates/report/Cargo.toml", "interop/test_export.py", "interop/features.sh"],
        tools=[["rustc", "--version"]],
    ),
    "validity": Lane(modules=["test_validity"], alone=True),
}


def said(command):
    """What a command prints, or None where it cannot be run."""
    try:
        ran = subprocess.run(command, capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout + ran.stderr


def content(lane):
    """A digest of all that a lane depends on; None: nobody can say, so that it runs."""
    if not lane.files:
        return None
    listed = said(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *lane.files, *ALWAYS])
    tools = [said(tool) for tool in lane.tools]
    if listed is None or None in tools:
        return None
    digest = hashlib.sha256(b"\0".join(tools))
    for name in sorted(set(listed.split(b"\0")) - {b""}):
        path = ROOT / os.fsdecode(name)
        if path.is_file():
            digest.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def chosen(names, everything):
    """The lanes to run, with the digests of what they depend on, and those that are skipped."""
    groups = {"together": False, "alone": True}
    names = [name for given in names for name in (LANES if given in groups else [given])
             if given not in groups or LANES[name].alone == groups[given]]
    unknown = set(names) - set(LANES)
    if unknown:
        sys.exit(f"unknown lane {', '.join(sorted(unknown))}: expected together, alone, {', '.join(LANES)}")
    passed = json.loads(PASSED.read_text()) if PASSED.exists() else {}
    run, skipped = {}, []
    for name in names or LANES:
        digest = content(LANES[name])
        if digest and passed.get(name) == digest and not everything:
            skipped.append(name)
        else:
            run[name] = digest
    return run, skipped


def run_lane(name, results, tests=None):
    """Runs one lane, or some of its tests; the output is in a file of its own."""
    lane, log = LANES[name], LOGS / f"{name}{'-again' if tests else ''}.txt"
    command = [str(PYTHON), "-m", "unittest", "-v", *(tests or lane.modules)] if tests or not lane.command else lane.command
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=HERE if tests or not lane.command else ROOT, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    results[name] = (process.returncode, time.monotonic() - began, used.ru_utime + used.ru_stime, log)


def failed_tests(text):
    """The tests and classes that unittest says to have failed; none where something else has."""
    failed = set(re.findall(r"^(?:ERROR|FAIL): \S+ \((test_[\w.]+)\)", text, re.MULTILINE))
    # A test of a class that could not be prepared, or of a module, is run with it.
    return sorted(name for name in failed if not any(name.startswith(other + ".") for other in failed))


def side_by_side(names, tests=None):
    """Runs lanes at the same time, or some tests of them; returns those that have passed, and which tests of the others failed."""
    results, tests = {}, tests or {}
    threads = [threading.Thread(target=run_lane, args=(name, results, tests.get(name))) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    good, failed = [], {}
    for name in names:
        code, wall, cpu, log = results[name]
        print(f"{name}: {'passed' if code == 0 else 'FAILED'} in {wall:.0f} s ({cpu:.0f} s of CPU)", flush=True)
        if code == 0:
            good.append(name)
        else:
            text = log.read_text(errors="replace")
            print(text, flush=True)
            failed[name] = failed_tests(text)
    return good, failed


def run(lanes):
    LOGS.mkdir(parents=True, exist_ok=True)
    good, failed = side_by_side([name for name in lanes if not LANES[name].alone])
    for name in lanes:
        if LANES[name].alone:
            passed, also = side_by_side([name])
            good, failed = good + passed, failed | also
    # A neighbour's noise fails no test twice.
    for name, tests in failed.items():
        print(f"{name}: once more, when nothing else runs: {', '.join(tests) or 'all of it'}", flush=True)
        good += side_by_side([name], {name: tests})[0]
    passed = json.loads(PASSED.read_text()) if PASSED.exists() else {}
    passed.update({name: lanes[name] for name in good if lanes[name]})
    PASSED.write_text(json.dumps(dict(sorted(passed.items())), indent=2) + "\n")
    if len(good) < len(lanes):
        sys.exit(1)


def main(arguments):
    verb, *names = arguments or [""]
    everything = "--all" in names
    lanes, skipped = chosen([name for name in names if name != "--all"], everything)
    if verb == "install":
        needs = sorted({need for name in lanes for need in LANES[name].needs})
        sys.exit(subprocess.run([HERE / "install.sh", *needs], check=False).returncode)
    if verb != "run":
        sys.exit(__doc__)
    for name in skipped:
        print(f"{name}: skipped, as nothing that it depends on has changed since it passed")
    run(lanes)


if __name__ == "__main__":
    main(sys.argv[1:])
