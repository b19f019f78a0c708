"""What every package says of squall."""

NAME = "squall"
# On PyPI and npm, where the short name belongs to others.
REGISTRY_NAME = "squall-load"
SUMMARY = "Load-testing tool that says how far its own numbers can be trusted"
DESCRIPTION = """\
squall generates load, reports how the system responded, and says how far the
numbers can be trusted. One binary, no runtime: plans in YAML or from JMeter,
open and closed workloads over HTTP/1.1 and HTTP/2, a report in one file."""
LICENCE = "MIT OR Apache-2.0"
AUTHORS = "The squall authors"
# Distributions want an address; there is none yet to which one could write.
MAINTAINER = f"{AUTHORS} <authors@squall.invalid>"
