"""As much of GitHub's runner as squall's action needs."""

import os
import re
import subprocess
from pathlib import Path

import yaml

from peers import PATIENCE

FOLDER = Path(__file__).resolve().parents[2] / "release/action"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text())


def evaluated(text, known):
    """A text with `${{ ... }}` in it, as far as squall's action has such expressions."""

    def value(expression):
        if " || " in expression:
            first, other = expression.split(" || ", 1)
            return value(first) or value(other)
        if " != " in expression:
            left, right = expression.split(" != ")
            return "true" if value(left) != value(right) else "false"
        if called := re.fullmatch(r"format\((.*)\)", expression):
            shape, *arguments = [value(argument) for argument in called[1].split(", ")]
            return shape.format(*arguments)
        return expression[1:-1] if expression.startswith("'") else known[expression]

    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: value(found[1]), text)


def act(inputs, folder):
    """Runs squall's action with these inputs as GitHub does, in a folder."""
    defaults = {name: str(described["default"]) for name, described in ACTION["inputs"].items()}
    known = {f"inputs.{name}": text for name, text in (defaults | inputs).items()}
    known |= {"github.action_path": str(FOLDER), "github.action_repository": "example/squall"}
    files = {name: folder / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.touch()
    (folder / "temp").mkdir()
    log = ""
    for step in ACTION["runs"]["steps"]:
        if evaluated(step.get("if", "true"), known) != "true":
            continue
        own = {name: evaluated(text, known) for name, text in step["env"].items()}
        path = os.pathsep.join([*reversed(files["GITHUB_PATH"].read_text().split()), os.environ["PATH"]])
        environment = os.environ | own | {name: str(file) for name, file in files.items()} | {"RUNNER_TEMP": str(folder / "temp"), "PATH": path}
        ran = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=folder, env=environment,
                             capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
        log += ran.stdout + ran.stderr
        if ran.returncode != 0:
            break
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return ran.returncode, outputs | {"log": log, "summary": files["GITHUB_STEP_SUMMARY"].read_text()}
