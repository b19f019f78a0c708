"""What a situation is, how one is run, and what is read from its result."""

import dataclasses
import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from lib import GENERATOR_CPU, squall

WEIGHTS = ("valid", "questionable", "invalid")
NOTE, QUESTIONABLE, INVALID = ("valid",), ("questionable",), ("invalid",)
DOUBTED = ("questionable", "invalid")
# In the place of a rule: nothing may be doubted.
FINE = "fine"


@dataclasses.dataclass(frozen=True)
class Situation:
    """What is provoked, and what must be said of it."""

    name: str
    # Name of the rule; or the beginning of a warning; or `FINE`.
    rule: str
    # The weights that are right.
    weights: tuple
    # The largest effect that is right, as shares of the numbers, where what was done to the run says how large it is.
    effect: tuple | None
    provoke: Callable

    def wanted(self):
        if self.rule == FINE:
            return "nothing but notes"
        if not self.weights:
            return f"in words: {self.rule}"
        effect = f", by {self.effect[0]:.0%} to {self.effect[1]:.0%}" if self.effect else ""
        words = ["a note" if weight == "valid" else weight for weight in self.weights]
        return f"`{self.rule}`, {' or '.join(words)}{effect}"


SITUATIONS = []


def situation(name, rule, weights=(), effect=None):
    """Registers a function that provokes a situation: it is given the built-in target, on the other processor, and
    returns a `Result`."""
    def register(provoke):
        SITUATIONS.append(Situation(name, rule, weights, effect, provoke))
        return provoke
    return register


@dataclasses.dataclass(frozen=True)
class Result:
    """What squall said: what is needed of its run.json. The one place that knows its form."""

    # Name, weight, largest effect (None: unknown) and sentence of each reason.
    reasons: tuple
    # Warnings, and why the run failed, if it did.
    warnings: tuple
    # Page faults that required the disk, and the most memory that was resident, in MiB.
    disk_faults: int
    memory_mib: float

    @staticmethod
    def of(run):
        reasons = tuple(
            (reason["rule"], reason["validity"], max(reason["effect"].values()) if reason["effect"] else None,
             reason["observed"]) for reason in run["validity_reasons"])
        failures = [reason["text"] for reason in run["outcome"]["reasons"]]
        return Result(reasons, (*run["warnings"], *failures), run["nodes"][0]["host_metrics"]["major_faults"],
                      run["generator"]["peak_rss_bytes"] / 2**20)


class Squall:
    """squall while it runs, with a plan or with arguments alone. `before`: what puts it where it is run."""

    def __init__(self, *arguments, plan=None, before=(), cpu=GENERATOR_CPU, workers=1, out=None,
                 program=None):
        self.folder = tempfile.TemporaryDirectory(prefix="squall-situation-")
        if plan:
            path = Path(self.folder.name) / "plan.yaml"
            path.write_text(plan)
            arguments = ["run", str(path), "--out", out or self.folder.name, *arguments]
        pin = [] if cpu is None else ["taskset", "-c", str(cpu)]
        command = [*before, *pin, program or squall(), *map(str, arguments), "-w", str(workers), "--quiet", "--json", "-"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self):
        """Waits for its end."""
        try:
            text, errors = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
            self.folder.cleanup()
        if not text:
            raise OSError(f"exit code {self.process.returncode}: {errors.strip()[-300:]}")
        return Result.of(json.loads(text))


def run(*arguments, **options):
    """A whole run."""
    return Squall(*arguments, **options).result()


def undisturbed(one, server):
    """The result of a situation. One that lacks its reason, and in which other programs of this machine or other
    guests took the processors, was another situation: it is provoked again, at most twice."""
    for _ in range(3):
        result = one.provoke(server)
        names = {reason[0] for reason in result.reasons if one.rule != FINE or reason[1] in DOUBTED}
        if one.rule in names or not names & {"host_busy", "starved", "steal"}:
            break
    return result


class NotProvoked(Exception):
    """A situation did not come about: nothing is known of what would have been said."""


def judge(one, server):
    """Provokes a situation; what was said of it, and whether that is right. Raises `NotProvoked`."""
    try:
        result = undisturbed(one, server)
    except (OSError, subprocess.SubprocessError) as error:
        raise NotProvoked(str(error)) from error
    if one.rule == FINE:
        doubts = ", ".join(f"{reason[0]} ({reason[1]}): {reason[3]}" for reason in result.reasons if reason[1] in DOUBTED)
        return doubts or "nothing but notes", not doubts
    if not one.weights:
        said = [warning for warning in result.warnings if one.rule in warning]
        return (said or ["nothing"])[0], bool(said)
    found = next((reason for reason in result.reasons if reason[0] == one.rule), None)
    if not found:
        others = ", ".join(f"{reason[0]} ({reason[1]})" for reason in result.reasons)
        return f"other reasons: {others or 'none'}", False
    _, weight, effect, observed = found
    right = weight in one.weights and (one.effect is None or one.effect[0] <= (effect or 0) <= one.effect[1])
    amount = "unknown" if effect is None else f"{effect:.1%}"
    return f"{weight}, by {amount}: {observed}", right
