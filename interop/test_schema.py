"""The JSON Schema and `squall check` agree about plans: a good one, and what becomes of it when one thing in
it is changed. Each change stands with what is expected of both; where they may differ is said at the end."""

import json
import re
import subprocess
import tempfile
import unittest

import jsonschema
import yaml

from peers import SQUALL

LOAD = "{users: 1, iterations: 1}"

# (what stands in the place, good or not); `@` is the place.
PLACES = {
    "scenarios": (
        "target: http://127.0.0.1:9\nscenarios: @\n",
        [("{}", False), ("{a: {load: " + LOAD + ", steps: [{get: /}]}}", True)],
    ),
    "plan": (
        "@\ntarget: http://127.0.0.1:9\nscenarios: {a: {load: " + LOAD + ", steps: [{get: /}]}}\n",
        [
            ("name: x", True), ("name: [x]", False), ("nmae: x", False), ("seed: 5", True), ("seed: -1", False),
            ("seed: 1.5", False), ("seed: x", False), ("on_error: stop_user", True), ("on_error: stop", False),
            ("graceful_stop: 5s", True), ("graceful_stop: 5", False), ("graceful_stop: 0", True),
            ("graceful_stop: 5 secs", False), ("warmup: auto", True), ("warmup: 30s", True), ("warmup: soon", False),
            ("session: per_user", True), ("session: user", False), ("max_names: 5", True), ("max_names: 0", False),
            ("max_names: 100001", False), ("bandwidth: 2Mbit/s", True), ("bandwidth: 2Mbit", False),
            ("bandwidth: {down: 1MB/s}", True), ("bandwidth: {left: 1MB/s}", False), ("bandwidth: 5", False),
            ("allow_hosts: x.example", True), ("allow_hosts: [a, b]", True), ("allow_hosts: {a: b}", False),
            ("vars: {a: 1, b: {value: x, secret: true}}", True), ("vars: {1a: 1}", False),
            ("vars: {a: {value: x, secret: maybe}}", False), ("vars: [a]", False), ("vars: {true: 1}", False),
            ("setup: [{get: /}]", True), ("setup: [{gett: /}]", False), ("setup:", True), ("teardown: {get: /}", True),
            ("defaults: {timeout: 5s}", True), ("defaults: {timeout: {total: 5s, conect: 1s}}", False),
            ("defaults: {headers: {A: b, C: [d, e]}}", True), ("defaults: {headers: [A]}", False),
            ("defaults: {redirects: -1}", False), ("defaults: {redirects: 4294967296}", False),
            ("defaults: {max_body: 1MiB}", True), ("defaults: {max_body: 500}", True), ("defaults: {max_body: big}", False),
            ("defaults: {max_decompression_ratio: 0}", False), ("defaults: {compression: yes}", False),
            ("defaults: {auth: {basic: {user: a, password: b}}}", True), ("defaults: {auth: {basic: {user: a}}}", False),
            ("defaults: {auth: {bearer: x, basic: {user: a, password: b}}}", False), ("defaults: {auth: {}}", False),
            ("defaults: {resources: true}", True), ("defaults: {resources: {limit: 0}}", False),
            ("defaults: {resources: {hosts: all, limit: 8}}", True), ("defaults: {resources: 5}", False),
            ("connections: {reuse: pool, pool_size: 5}", True), ("connections: {reuse: pool}", False),
            ("connections: {pool_size: 5}", False), ("connections: {reuse: per_user, pool_size: 5}", False),
            ("connections: {reuse: pool, pool_size: 0}", False), ("connections: {http: 2}", True),
            ("connections: {http: 1.1}", True), ("connections: {http: '2'}", True), ("connections: {http: 3}", False),
            ("connections: {tls: {insecure: true}}", True), ("connections: {tls: {insecure: 1}}", False),
            ("connections: {resolve: {a: [127.0.0.1], b: 127.0.0.2}}", True),
            ("thresholds: error_rate < 1%", True), ("thresholds: [p99 < 1s]", True), ("thresholds: {p99: 1s}", False),
            ("load: {users: 1, for: 1s}", False),
            ("vars: {h: '127.0.0.1:9'}", True), ("connections: {proxy: x}", False), ("connections: {proxy: 'http://x:1'}", True),
            ("connections: {proxy: 'http://ada:p%40s@x:1/'}", True), ("connections: {proxy: 'http://x:1/path'}", False),
            ("connections: {proxy: 'https://x'}", False), ("vars: {h: x}\nconnections: {proxy: 'http://${h}'}", True),
            ("connections: {proxy: 'http://x', no_proxy: ['a:80', '*.b', '*']}", True),
            ("connections: {proxy: 'http://x', no_proxy: 'http://a'}", False), ("allow_hosts: 'http://x'", False),
            ("allow_hosts: a*", False), ("allow_hosts: '*.x.example'", True), ("allow_hosts: ['[::1]:80', 'a:81', '::2']", True),
            ("bandwidth: 0Mbit/s", False), ("bandwidth: {down: 0B/s}", False), ("bandwidth: 0.5Mbit/s", True),
            ("thresholds: any text", False), ("thresholds: 5", False), ("thresholds: ''", False), ("thresholds: p99 <", False),
            ("thresholds: ['p99(GET /) <= 300ms', 'error_rate == 0%', {threshold: 'count > 5'}]", True),
            ("thresholds: p99 = 5ms", False), ("samples: {file: x.csv, form: csv}", True),
            ("samples: {file: x.csv, form: csv, append: true}", False), ("samples: {file: x.csv, form: csv, append: false}", True),
            ("samples: {file: x.jtl, form: jtl, append: true}", True), ("feeds: {graphite: x}", False),
            ("feeds: {graphite: 'x:2003'}", True), ("feeds: {influxdb: x}", False),
            ("feeds: {influxdb: 'http://x:8086/write?db=a'}", True), ("feeds: {prometheus: 99999}", False),
            ("feeds: {prometheus: 9464}", True), ("feeds: {prometheus: '127.0.0.1:9464'}", True), ("feeds: {otlp: x}", False),
            ("defaults: {headers: {'a b': c}}", False), ("defaults: {proxy: none}", True), ("defaults: {proxy: x}", False),
            ("defaults: {tags: {a: }}", False), ("defaults: {headers: {a: }}", False),
        ],
    ),
    "target": (
        "vars: {h: '127.0.0.1:9'}\n@\nscenarios: {a: {load: " + LOAD + ", steps: [{get: /}]}}\n",
        [
            ("target: http://127.0.0.1:9", True), ("target: builtin", True), ("target: 'http://${h}/a'", True), ("target: 5", False),
            ("target: true", False), ("target: 'ftp://a/'", False), ("target: example.com", False), ("target: ''", False),
            ("target: 'HTTPS://a.example'", True),
        ],
    ),
    "load": (
        "target: http://127.0.0.1:9\nscenarios: {a: {@, steps: [{get: /}]}}\n",
        [
            ("load: {users: 1, for: 1s}", True), ("load: {users: 1}", False), ("load: {for: 1s}", False),
            ("load: {users: 1, for: 1}", False), ("load: {users: -1, for: 1s}", False), ("load: {users: '5', for: 1s}", True),
            ("load: {users: 5, for: 1m30s}", True), ("load: {users: 5, for: 1.5s}", True), ("load: {users: 5, for: 1h 2m}", True),
            ("load: {users: 1, duration: 1s}", False), ("load: {users: 1, for: 1s, arrivals: even}", False),
            ("load: {users: 1, for: 1s, max_users: 5}", False), ("load: {rate: 5/s, for: 1s}", True),
            ("load: {rate: 5, for: 1s}", False), ("load: {rate: 30/min, for: 1m, arrivals: poisson}", True),
            ("load: {rate: 5/s}", False), ("load: {rate: 5/s, for: 1s, pacing: 1s}", False),
            ("load: {rate: 5/s, users: 5, for: 1s}", False), ("load: {rate: 5/s, for: 1s, max_users: 0}", False),
            ("load: {rate: 5/s, iterations: 5}", False), ("load: {rate: 5/s, total_iterations: 5}", True),
            ("load: {users: 1, iterations: 5, end: together}", True), ("load: {users: 1, for: 1s, end: together}", False),
            ("load: {users: 1, iterations: 5, end: never}", False), ("load: {stages: [{users: 5, over: 1s}]}", True),
            ("load: {stages: [{users: 5, over: 1s}], ramp: 1s}", False), ("load: {stages: [{over: 1s}]}", False),
            ("load: {stages: [{rate: 5/s, over: 1s}]}", True), ("load: {stages: [{rate: 5, over: 1s}]}", False),
            ("load: {stages: [{users: 5, over: 1}]}", False), ("load: {users: 1, ramp: 0, for: 1s}", True),
            ("load: {users: 1, for: 1s}, weight: 1", False), ("start_after: 1s", False), ("load: 5", False),
            ("vars: {n: 1}, load: {users: '${n}', for: '${n}s'}", True), ("vars: [n], load: {users: 1, for: 1s}", False),
            ("load: {users: 0, for: 1s}", False), ("load: {users: 0, stages: [{users: 5, over: 1s}]}", True),
            ("vars: {n: 1}, load: {users: 'a${n}', for: 1s}", False), ("load: {stages: [{users: 1.5, over: 1s}]}", False),
            ("vars: {n: 1}, load: {users: '1${n}', for: '1m${n}s'}", True), ("load: {stages: [{users: '5', over: 1s}]}", True),
            ("load: {users: 1, for: 1s}, start_after: 1s", True), ("load: {users: 1, for: 1s}, weihgt: 1", False),
        ],
    ),
    "step": (
        "target: http://127.0.0.1:9\nscenarios: {a: {load: " + LOAD + ", steps: [@]}}\n",
        [
            ("{get: /}", True), ("{gett: /}", False), ("{get: /, post: /}", False), ("get", False), ("{get: [a]}", False),
            ("{request: {method: PURGE, url: /}}", True), ("{request: {method: PURGE}}", False),
            ("{request: {method: 'A B', url: /}}", False), ("{get: /, nmae: a}", False),
            ("{post: /, body: a, json: {a: 1}}", False), ("{post: /, json: {a: [1, null]}}", True),
            ("{post: /, form: {a: [1, 2], b: x}}", True), ("{post: /, form: [a]}", False),
            ("{post: /, body: {decompress: true}}", False), ("{post: /, multipart: {a: {text: b, file: c}}}", False),
            ("{post: /, multipart: {a: b, c: {text: d, content_type: text/plain}}}", True),
            ("{post: /, multipart: {a: {text: b, filename: c}}}", False), ("{get: /, timeout: 5}", False),
            ("{get: /, timeout: {pool: 1s}}", True), ("{get: /, response_body: discard}", True),
            ("{get: /, response_body: md5}", False), ("{get: /, response_body: {hash: md5}}", True),
            ("{get: /, response_body: {hash: md5, keep: 5}}", False), ("{get: /, response_body: {keep: 4KiB}}", True),
            ("{get: /, extract: {a: {json: $.a}}}", True), ("{get: /, extract: {a: {json: $.a, css: b}}}", False),
            ("{get: /, extract: {a: {}}}", False), ("{get: /, extract: {a: {json: $.a, group: 1}}}", False),
            ("{get: /, extract: {a: {regex: x, group: 0}}}", True), ("{get: /, extract: {a: {regex: x, match: 0}}}", False),
            ("{get: /, extract: {a: {regex: x, match: all}}}", True), ("{get: /, extract: {a: status}}", True),
            ("{get: /, extract: {a: stat}}", False), ("{get: /, extract: {1a: status}}", False),
            ("{get: /, extract: {a: {between: [a]}}}", False), ("{get: /, extract: {a: {between: [a, b], default: x}}}", True),
            ("{get: /, check: [status == 200, {expr: status == 200, warn: true}]}", True),
            ("{get: /, check: {warn: true}}", False), ("{get: /, check: {expr: status == 200, warn: 1}}", False),
            ("{group: a, steps: [{get: /}]}", True), ("{group: a}", False), ("{group: a, steps: []}", False),
            ("{group: a, steps: }", False), ("{repeat: 3, steps: [{get: /}]}", True), ("{repeat: 3}", False),
            ("{repeat: 3, counter: 1a, steps: [{get: /}]}", False), ("{while: 1 == 2, steps: []}", False),
            ("{if: 1 == 2, then: [{get: /}]}", True), ("{if: 1 == 2, else: [{get: /}]}", False), ("{if: 1 == 2}", False),
            ("{if: 1 == 2, then: [{get: /}], else: }", False), ("{for_each: {a: '[1]'}, steps: [{get: /}]}", True),
            ("{for_each: {a: '[1]'}}", False), ("{for_each: {}, steps: [{get: /}]}", False),
            ("{choose: [{weight: 1, steps: [{get: /}]}]}", True), ("{choose: []}", False),
            ("{choose: [{weight: 0, steps: [{get: /}]}]}", False), ("{choose: [{weight: 1}]}", False),
            ("{round_robin: [{steps: [{get: /}]}]}", True), ("{round_robin: [[{get: /}]]}", False),
            ("{once_per_user: [{get: /}]}", True), ("{once_per_user: []}", False), ("{once_per_user: }", False),
            ("{parallel: [{get: /}]}", True), ("{parallel: {limit: 2, steps: [{get: /}]}}", True),
            ("{parallel: {limit: 1001, steps: [{get: /}]}}", False), ("{parallel: []}", False),
            ("{think: 1s}", True), ("{think: 1s..3s}", True), ("{think: 5}", False), ("{think: 0}", True),
            ("{think: {normal: {mean: 1s, sd: 1s}}}", True), ("{think: {normal: {mean: 1s}}}", False),
            ("{think: {exponential: 1s}}", True), ("{think: {normal: {mean: 1s, sd: 1s}, exponential: 1s}}", False),
            ("{set: {a: [1, x]}}", True), ("{set: [a]}", False), ("{clear_cookies: true}", True), ("{clear_cookies: false}", False),
            ("{set_cookie: {name: a, value: b}}", True), ("{set_cookie: {name: a}}", False),
            ("{set_cookie: {name: a, value: b, url: 'http://127.0.0.1/', path: /}}", False),
            ("{log: x}", True), ("{log: {a: b}}", False), ("{stop: user}", True), ("{stop: all}", False),
            ("{metric: {name: m, kind: counter}}", True), ("{metric: {name: m, kind: gauge}}", False),
            ("{metric: {name: m, kind: gauge, value: 1}}", True), ("{metric: {name: m, kind: sum, value: 1}}", False),
            ("{get: ''}", False), ("{get: x}", False), ("{get: //x/}", False), ("{get: 'ftp://x/'}", False), ("{get: 5}", False),
            ("{get: true}", False), ("{get: 'http://127.0.0.1:9/a'}", True), ("{set: {u: 'http://127.0.0.1:9/'}}", True),
            ("{get: '${user}'}", True), ("{get: '/${user}'}", True), ("{get: 'http://127.0.0.${user}:9/'}", True),
            ("{request: {method: PURGE, url: x}}", False), ("{get: , post: /}", True), ("{get: }", False),
            ("{get: /, headers: {'': a}}", False), ("{get: /, headers: {'a b': c}}", False), ("{get: /, headers: {X-A: b}}", True),
            ("{get: /, query: {'a b': c}}", True), ("{get: /, headers: {a: }}", False), ("{post: /, form: {a: }}", False),
            ("{get: /, query: {a: ''}}", True), ("{get: /, tags: {a: }}", False), ("{post: /, body: }", True),
            ("{post: /, body: , json: {a: 1}}", True), ("{post: /, charset: ''}", False), ("{post: /, charset: gbk}", True),
            ("{get: /, proxy: ''}", True), ("{get: /, proxy: none}", True), ("{get: /, proxy: 'http://x'}", True),
            ("{get: /, proxy: x}", False), ("{get: /, check: ''}", False), ("{while: '', steps: [{get: /}]}", False),
            ("{for_each: {a: '[1]', b: '[2]'}, steps: [{get: /}]}", False), ("{clear_cookies: 'false'}", True),
            ("{clear_cookies: jar}", True), ("{pace: {rate: 5}}", True), ("{pace: {rate: 5, exact_over: 1s}}", False),
            ("{pace: {rate: 5, exact_over: 0s, batch: 1}}", True), ("{pace: {rate: 5, batch: 2}}", False),
            ("{pace: {rate: 5, by: run_in_line, exact_over: 1s, batch: 2}}", True), ("{tcp: h}", False),
            ("{tcp: 'h:7000', send: a}", True), ("{tcp: 'h:99999'}", False), ("{tcp: '127.0.0.1:700${user}'}", True),
            ("{tcp: 'h:1', form: hex, send: zz}", False), ("{tcp: 'h:1', form: hex, send: '000'}", False),
            ("{tcp: 'h:1', form: hex, send: 0d0A}", True), ("{tcp: 'h:1', send: zz}", True),
            ("{metric: {kind: counter}}", False), ("{sleep: 1s}", False), ("{include: [a]}", False),
        ],
    ),
}


class Core(yaml.SafeLoader):
    """YAML 1.2, core schema: `yes` is a text, `0o10` is 8."""


Core.yaml_implicit_resolvers = {}
Core.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
Core.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
Core.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
Core.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"), list("-+.0123456789"))


def keyed(value):
    """With names as texts, as JSON has them."""
    if isinstance(value, dict):
        return {str(key).lower() if isinstance(key, bool) else str(key): keyed(value) for key, value in value.items()}
    return [keyed(item) for item in value] if isinstance(value, list) else value


def check(text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([SQUALL, "check", file.name], capture_output=True, text=True, timeout=20)
    return run.returncode == 0, run.stdout + run.stderr


class Schema(unittest.TestCase):
    def test_schema_and_check_agree(self):
        schema = json.loads(subprocess.run([SQUALL, "schema"], capture_output=True, check=True).stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        cases, differ, wrong = 0, [], []
        for place, (plan, changes) in PLACES.items():
            for change, good in changes:
                text = plan.replace("@", change)
                accepted, output = check(text)
                valid = validator.is_valid(keyed(yaml.load(text, Core)))
                cases += 1
                if accepted != good:
                    wrong.append(f"{place}: {change}: check says {accepted}\n{output}")
                if accepted != valid:
                    differ.append(f"{place}: {change}: check {accepted}, schema {valid}")
        self.assertGreaterEqual(cases, 300)
        self.assertEqual(wrong, [])
        # That a load of the plan needs scenarios with a weight, and the reverse, is beyond the schema.
        self.assertLessEqual(len(differ), 4, "\n".join(differ))
        print(f"{cases - len(differ)} of {cases} agree; {differ}")


if __name__ == "__main__":
    unittest.main()
