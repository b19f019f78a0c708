"""Runs the public k6 scripts that a list names, each in the files of its repository, against a server that answers 200 with JSON.

Usage: corpus.py fetch [--list FILE] [--from FOLDER]   gets the repositories, from the network or from copies (FOLDER/owner+name/repo)
       corpus.py run [--list FILE] [--flags "-i 5 -u 1"] [--only WORDS] [--out FILE]

A list is a table with tabs and the columns repo, path and commit; by default scripts.tsv beside this file. What is fetched stays in
target/interop/corpus. SQUALL is the program that runs them."""

import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import world

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SQUALL = os.environ.get("SQUALL", str(ROOT / "target/release/squall"))
FOLDER = Path(os.environ.get("CORPUS", ROOT / "target/interop/corpus"))
# Of a repository, what a script can read.
READ = (".js", ".mjs", ".cjs", ".ts", ".json", ".csv", ".txt", ".yml", ".yaml", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".xml", ".html",
        ".graphql", ".gql", ".pem", ".key", ".crt", ".bin", ".env")
LARGEST = 4 << 20
# How long a script may take, in seconds; one that ends by its own options is interrupted then.
LIMIT = 30
AT_ONCE = 8
# What squall has nothing for, by design: modules of other protocols, and extensions.
LATER = re.compile(r"k6/(browser|ws|websockets|net|html|x|experimental)\b|\bcrypto\.subtle\b")

REPORTER = re.compile(r"""https://[^'"\s]*k6-reporter[^'"\s]*\.js""")


def listed(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def folder(row):
    return FOLDER / row["repo"].replace("/", "+")


def git(*arguments, **options):
    return subprocess.run(["git", *map(str, arguments)], check=True, capture_output=True, **options).stdout


def fetch_one(repo, commit, into, copies):
    if copies:
        store = Path(copies, repo.replace("/", "+"), "repo")
    else:
        store = FOLDER / "git" / repo.replace("/", "+")
        git("init", "--bare", "--quiet", store)
        git("-C", store, "fetch", "--quiet", "--depth", "1", f"https://github.com/{repo}", commit)
    for line in git("--git-dir", store, "ls-tree", "-r", "-l", "-z", commit).split(b"\0")[:-1]:
        facts, name = line.split(b"\t", 1)
        mode, kind, blob, size = facts.split()
        path = into / os.fsdecode(name)
        if kind != b"blob" or mode == b"120000" or path.suffix.lower() not in READ or not size.isdigit() or int(size) > LARGEST:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(git("--git-dir", store, "cat-file", "blob", blob.decode()))


def lock(root):
    """Makes the root of a repository that of its scripts, as a clone is, and gives them a stand-in for k6-reporter, which makes a page
    when all is over and measures nothing."""
    texts = (path.read_text(errors="replace") for path in root.rglob("*") if path.is_file() and path.suffix in (".js", ".ts"))
    urls = {url for text in texts for url in REPORTER.findall(text)}
    stand_in = b"export const htmlReport = () => '<html></html>'\n"
    (root / "squall_modules").mkdir(exist_ok=True)
    (root / "squall_modules/reporter.js").write_bytes(stand_in)
    locked = {"sha256": hashlib.sha256(stand_in).hexdigest(), "file": "squall_modules/reporter.js"}
    (root / "squall.lock").write_text(json.dumps({"version": 1, "modules": dict.fromkeys(sorted(urls), locked)}))


def fetch(rows, copies):
    for row in rows:
        into = folder(row)
        if into.exists():
            continue
        try:
            fetch_one(row["repo"], row["commit"], into, copies)
            lock(into)
        except subprocess.CalledProcessError as error:
            print(f"{row['repo']}: {error.stderr.decode(errors='replace').strip()[:200]}", file=sys.stderr)


def reached(path, seen):
    """The text of a script and of the files that it imports."""
    if path in seen or not path.is_file():
        return ""
    seen.add(path)
    text = path.read_text(errors="replace")
    for name in re.findall(r"""(?:from|import|require\()\s*['"](\.[^'"]+)['"]""", text):
        for tail in ("", ".js", ".ts", "/index.js"):
            text += reached((path.parent / (name + tail)).resolve(), seen)
    return text


def whole(row):
    """The text of a script of the list, with that of what it imports."""
    return reached((folder(row) / row["path"]).resolve(), set())


def ports(rows):
    """The ports that scripts may ask."""
    named = {int(port) for row in rows for port in re.findall(r":(\d{2,5})\b", whole(row))}
    return sorted(port for port in {80, 443, 8080, 3000} | named if 50 < port < 65536 and port != 53)


def run(path, flags):
    """Runs a script; returns its exit code, the counts of its points, and what it said."""
    command = [SQUALL, "k6", "run", "--quiet", "--insecure-skip-tls-verify"]
    with tempfile.TemporaryDirectory() as scratch:
        points = Path(scratch, "points.json")
        # A script without a default function has scenarios, which call its others.
        has_default = re.search(r"export\s+default|as\s+default|exports\.default|module\.exports", path.read_text(errors="replace"))
        command = [*command, *(flags if has_default else []), "--out", f"json={points}", str(path)]
        process = subprocess.Popen(command, cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        ended = True
        for sent in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            try:
                said, _ = process.communicate(timeout=LIMIT if ended else 5)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(sent)
                ended = False
        else:
            said, _ = process.communicate()
        counts = collections.Counter()
        if points.exists():
            with open(points, encoding="utf-8") as file:
                for line in file:
                    point = json.loads(line)
                    if point["type"] == "Point" and point["metric"] in ("http_reqs", "iterations"):
                        counts[point["metric"]] += point["data"]["value"]
    return process.returncode, counts, said


def outcome(code, counts, said):
    """One word for what became of a script. Those that throw are to be looked at: an answer that is the same for all requests does not
    suit all scripts, and then k6 throws as well. Those that are cut ran until their time was over."""
    if code in (104, 107, 255):
        return "threw" if "setup failed" in said else "refused"
    if re.search(r'level=error msg="iteration: ', said):
        return "threw"
    if code == 105:
        return "cut"
    return "whole" if code in (0, 99) and counts["iterations"] else "other"


def measure(rows, flags, only, out):
    world.enter()
    rows = [row for row in rows if only in f"{row['repo']}/{row['path']}"]
    with tempfile.TemporaryDirectory() as scratch:
        world.serve(ports(rows), scratch)
    total = collections.Counter()

    def one(row):
        text = whole(row)
        return text and (LATER.search(text), run((folder(row) / row["path"]).resolve(), flags))

    # They mostly sleep.
    with open(out, "w", encoding="utf-8") as file, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for row, ran in zip(rows, pool.map(one, rows)):
            name = f"{row['repo']}/{row['path']}"
            if not ran:
                total[row.get("part", ""), "", "missing"] += 1
                print(f"missing  {name}", flush=True)
                continue
            later, (code, counts, said) = ran
            tier, word = "later" if later else "now", outcome(code, counts, said)
            total[row.get("part", ""), tier, word] += 1
            print(f"{tier:5} {word:7} {code:4} {counts['iterations']:5} iterations {counts['http_reqs']:5} requests  {name}", flush=True)
            file.write(f"##### {tier} {word} {code} {name}\n{said}\n")
    for (part, tier, word), count in sorted(total.items()):
        print(f"{part:6} {tier:5} {word:7} {count}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("verb", choices=["fetch", "run"])
    options.add_argument("--list", default=HERE / "scripts.tsv")
    options.add_argument("--from", dest="copies")
    options.add_argument("--flags", default="-i 5 -u 1")
    options.add_argument("--only", default="")
    options.add_argument("--out", default="/dev/null")
    given = options.parse_args()
    rows = listed(given.list)
    if given.verb == "fetch":
        fetch(rows, given.copies)
    else:
        measure(rows, shlex.split(given.flags), given.only, given.out)


if __name__ == "__main__":
    main()
