"""What a run should have said, by the server's log, beside what squall said. Times are in µs."""

import math
import re
from collections import Counter
from dataclasses import dataclass

# What squall has to call what the server did in place of answering.
KINDS = {"never": "timeout_first_byte", "gone": "timeout_first_byte", "reset": "reset", "closed": "closed_early",
         "cut": "closed_early"}
# A latency may be off by so much: 50 µs, or 5 %.
LEAST_US, SHARE = 50, 0.05


@dataclass(frozen=True)
class Figure:
    """A figure, what it must be, and what squall says; `allowed`: how far apart the two may be."""

    name: str
    truth: object
    squall: object
    allowed: float = 0
    unit: str = ""
    # Whether it is a time, or depends on one: other programs on the machine can move it.
    is_timed: bool = False

    @property
    def is_met(self):
        if isinstance(self.truth, (int, float)) and not isinstance(self.truth, bool):
            return abs(self.squall - self.truth) <= self.allowed
        return self.squall == self.truth

    def cells(self):
        """Truth, squall, difference, allowed."""
        if not self.unit:
            return shown(self.truth), shown(self.squall), "" if self.is_met else "not equal", "equal"
        difference = self.squall - self.truth
        share = f" ({difference / self.truth:+.1%})" if self.truth > 1000 else ""
        return f"{self.truth:,.0f}", f"{self.squall:,.0f}", f"{difference:+,.0f}{share}", f"{self.allowed:,.0f}"


def shown(value):
    if isinstance(value, dict):
        return ", ".join(f"{key} {count:,}" for key, count in sorted(value.items())) or "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def percentile(values, p):
    """The value of rank p/100 of their number, rounded up: HdrHistogram's definition, without its buckets."""
    return sorted(values)[max(math.ceil(p / 100 * len(values)), 1) - 1]


def time(name, truth, squall):
    return Figure(name, truth, squall, max(LEAST_US, SHARE * truth), "µs", is_timed=True)


def figures(run):
    """All that can be compared of a run."""
    return [*counts(run), *latencies(run), *timeouts(run), *thresholds(run), *arrivals(run), recomputed(run)]


# ---- counts: exact to the last request ----

def counts(run):
    totals, counters = run.json["totals"], run.json["counters"]
    kinds = Counter(KINDS[own[-1]["outcome"]] for _, own in run.joined if own and own[-1]["outcome"] in KINDS)
    ids = len({row["id"] for row in run.rows})
    twice = len(run.rows) - ids
    yield Figure("requests", ids, totals["count"])
    # Others are repeated without ever having come to the server.
    yield Figure("requests that came twice, told as repeated", twice, min(twice, counters["stale_retries"]))
    yield Figure("requests repeated though their connection was not idle", 0, repeated_at_once(run))
    yield Figure("requests that one side alone knows", 0,
                 len(run.strangers) + sum(not own for _, own in run.joined))
    yield Figure("errors by kind", dict(kinds), totals["error_kinds"])
    yield Figure("errors, request by request", 0, sum(
        line["error"] != KINDS.get(own[-1]["outcome"]) for line, own in run.joined if own))
    yield Figure("connections", run.accepted, counters["connections_opened"])
    yield Figure("bytes out", sum(row["bytes_in"] for row in run.rows), totals["bytes_out"])
    yield Figure("bytes in", sum(row["bytes_out"] for row in run.rows), totals["bytes_in"])


def repeated_at_once(run):
    """Requests that were sent again, after the server had ended a connection on which it had answered less than a second
    before: these it has failed."""
    last = {(row["conn"], row["number"]): row["sent"] for row in run.rows}
    before = [(row, last.get((row["conn"], row["number"] - 1))) for _, own in run.joined for row in own[:-1]]
    return sum(bool(sent) and row["rx"] - sent < 0.9e9 for row, sent in before)


# ---- latencies of complete responses ----

@dataclass(frozen=True)
class Truth:
    """What a client must have seen of a response."""

    connect: float
    first_byte: float
    body: float

    def latency(self, reused):
        return self.first_byte + self.body + (0 if reused else self.connect)


def truth(run, rows):
    """By the packets at the client's end of the wire; on loopback, which takes some µs, by the server: its kernel's
    stamps of request and response, and the round trip of the handshake (TCP_INFO). A request that came twice begins
    with the first time. `None`: not known."""
    row = rows[-1]
    if run.case.wire:
        seen = run.seen.get((row["conn"], row["number"]))
        return seen and Truth(seen.connect / 1e3, (seen.first - seen.sent) / 1e3, (seen.end - seen.first) / 1e3)
    last = row["tx"] or row["sent"]
    first = row["tx0"] or last
    return Truth(row["rtt_us"] if len(rows) == 1 else 0, (first - rows[0]["rx"]) / 1e3, (last - first) / 1e3)


def complete(run):
    """Pairs of squall's line and the truth of requests that both sides take for answered."""
    pairs = [(line, truth(run, own)) for line, own in run.joined
             if own and line["error"] is None and own[-1]["outcome"] not in KINDS]
    return [(line, known) for line, known in pairs if known]


def latencies(run):
    pairs = complete(run)
    if not pairs:
        return
    true = [known.latency(line["reused"]) for line, known in pairs]
    said = run.json["totals"]["latency_us"]
    apart = [abs(line["latency_us"] - own) for own, (line, _) in zip(true, pairs)]
    middle = percentile(true, 50)
    for p in (50, 99):
        allowed = max(LEAST_US, SHARE * middle)
        yield Figure(f"latency, request by request: p{p} of the differences", 0, percentile(apart, p), allowed, "µs",
                     is_timed=True)
    yield time("latency, mean", sum(true) / len(true), said["mean"])
    for p in (50, 90, 99):
        yield time(f"latency, p{p}", percentile(true, p), said[f"p{p}"])
    yield time("latency, max", max(true), said["max"])
    yield from phases(pairs)
    yield from held_up(run)


def held_up(run):
    """How long the server took from when a compressed response was due until it had left: a client that decompresses
    while more is to come shuts its window."""
    if run.case.check and "gzip" in run.case.steps[0]:
        own = [(row["tx"] - row["due"]) / 1e3 for row in run.rows if row["tx"]]
        yield Figure("server held up while it sends, mean", 0, sum(own) / len(own), 1000, "µs", is_timed=True)


def phases(pairs):
    """Medians of the phases, of the log of requests: squall's histograms of them have two digits only."""
    for name in ("connect", "first_byte", "body"):
        own = [(getattr(known, name), line["phases_us"][name]) for line, known in pairs if name in line["phases_us"]]
        if own:
            yield time(f"phase {name}, p50", *(percentile(side, 50) for side in zip(*own)))


# ---- what never came ----

def waits(run):
    """Requests that were never answered, each with how long squall waited: until the server saw that it had gone."""
    own = [(line, rows[-1]) for line, rows in run.joined if rows and rows[-1]["outcome"] in ("never", "gone")]
    return [(line, (row["gone"] - row["rx"]) / 1e3) for line, row in own]


def timeouts(run):
    """Percentiles in which what never came counts with the time that it was waited for."""
    own = waits(run)
    if not own:
        return
    yield time("timeouts, time waited, p50", percentile([waited for _, waited in own], 50),
               percentile([line["latency_us"] for line, _ in own], 50))
    values = [known.latency(line["reused"]) for line, known in complete(run)] + [waited for _, waited in own]
    totals = run.json["totals"]
    said = totals["latency_with_timeouts_us"] or totals["latency_us"]
    yield time("latency with timeouts, p99", percentile(values, 99), said["p99"])


def thresholds(run):
    """Verdicts, in which what failed counts with the time until it did."""
    failed = [(rows[-1]["sent"] - rows[0]["rx"]) / 1e3 for _, rows in run.joined
              if rows and rows[-1]["outcome"] in ("reset", "closed", "cut")]
    values = [known.latency(line["reused"]) for line, known in complete(run)] + failed
    values += [waited for _, waited in waits(run)]
    for found in run.json["thresholds"]:
        p, limit = re.fullmatch(r"p(\d+) < (\d+)ms", found["text"]).groups()
        holds = percentile(values, float(p)) < 1e3 * float(limit)
        yield Figure(f"threshold `{found['text']}` passed", holds, found["passed"], is_timed=True)


# ---- arrivals of an open workload ----

def arrivals(run):
    """Arrivals against the plan: number n is due at n / rate. The run's start on the server's clock is what
    makes nine tenths of the requests arrive after squall says that it sent them."""
    case, counters = run.case, run.json["counters"]
    if not case.rate:
        return
    seconds = float(re.search(r"for: (\d+)s", case.load)[1])
    ids = len({row["id"] for row in run.rows})
    yield Figure("arrivals due", round(case.rate * seconds), counters["arrivals_due"])
    yield Figure("arrivals dropped", round(case.rate * seconds) - ids, counters["arrivals_dropped"])
    pairs = sorted((rows[0]["rx"], line["at_s"], rows[0]["tx"] or rows[0]["sent"]) for line, rows in run.joined if rows)
    if counters["arrivals_dropped"] or not pairs or case.wire:
        return
    start = percentile([rx - at * 1e9 for rx, at, _ in pairs], 10)
    late = [(rx - start) / 1e3 - n / case.rate * 1e6 for n, (rx, _, _) in enumerate(pairs)]
    corrected = [(tx - start) / 1e3 - n / case.rate * 1e6 for n, (_, _, tx) in enumerate(pairs)]
    for name, true, said in (("arrivals behind schedule", late, run.json["generator"]["send_delay_us"]),
                             ("corrected latency", corrected, run.json["totals"]["corrected_latency_us"])):
        yield time(f"{name}, p50", max(percentile(true, 50), 0), said["p50"])
        yield time(f"{name}, p99", max(percentile(true, 99), 0), said["p99"])
    if case.stopped:
        return
    seconds = Counter(int((rx - start) / 1e9) for rx, _, _ in pairs)
    worst = max(seconds.values(), key=lambda count: abs(count - case.rate))
    yield Figure("arrivals in the second furthest off the plan", case.rate, worst, 2 + case.rate / 100, "1", is_timed=True)


# ---- run.json against the log of requests ----

def recomputed(run):
    """Whether the totals follow from the log of requests; percentiles to 3 significant digits."""
    totals, lines = run.json["totals"], [line for line, _ in run.joined]
    wrong = []
    sums = {"count": len(lines), "errors": sum(line["error"] is not None for line in lines),
            "bytes_in": sum(line["bytes_in"] for line in lines), "bytes_out": sum(line["bytes_out"] for line in lines)}
    wrong += [key for key, value in sums.items() if totals[key] != value]
    status = Counter(str(line["status"]) for line in lines if line["status"])
    if {str(code): count for code, count in totals["status"].items()} != dict(status):
        wrong.append("status")
    said = totals["latency_us"]
    own = [line["latency_us"] for line in lines if line["error"] is None]
    if said["count"] != len(own):
        wrong.append("latency count")
    elif own:
        wrong += [f"p{p}" for p in (50, 75, 90, 95, 99)
                  if abs(said[f"p{p}"] - percentile(own, p)) > 1 + percentile(own, p) / 1000]
        wrong += [name for name, value in (("min", min(own)), ("max", max(own))) if abs(said[name] - value) > 1]
        wrong += ["mean"] if abs(said["mean"] - sum(own) / len(own)) > 1 else []
    return Figure("totals, recomputed from the log", "equal", ", ".join(wrong) or "equal")
