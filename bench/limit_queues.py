#!/usr/bin/env python3
"""Are the answers of `squall limit` right, and do its intervals hold? Many searches of simulated queues whose edges are
known, with the search's own code (crates/limit/examples/limit_queues). Prints a Markdown table; exit code 1 if a goal is
missed. Usage: limit_queues.py [SEARCHES [STEP_S...]]"""

import subprocess
import sys
from pathlib import Path

command = ["cargo", "run", "--release", "-q", "-p", "squall-limit", "--example", "limit_queues", "--"]
sys.exit(subprocess.run(command + sys.argv[1:], cwd=Path(__file__).parent.parent).returncode)
