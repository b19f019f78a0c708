"""What makes numbers questionable or invalid, provoked on a machine that does nothing else: a busy processor, a small
range of ports, connections that are lost. And a healthy run, which is not blamed for anything."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from peers import SQUALL, Process, free_port, squall


def reasons(result):
    return {reason["rule"]: reason for reason in result["validity_reasons"]}


class Validity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.target = Process(["taskset", "-c", "1", SQUALL, "target", "-l", f"127.0.0.1:{cls.port}"], cls.port)

    @classmethod
    def tearDownClass(cls):
        cls.target.stop()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def test_a_healthy_run_is_valid(self):
        result = undisturbed(self.url("/delay/20"), "-c", "200", "-r", "500/s", "-d", "4s", "--strict")
        self.assertEqual(result["validity"], "valid", result["validity_reasons"])
        self.assertEqual(result["totals"]["count"], 2000)

    def test_the_example_is_valid(self):
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/first.yaml")
        with tempfile.TemporaryDirectory() as folder:
            result = undisturbed("run", example, "--out", folder)
        self.assertEqual(result["validity"], "valid", result["validity_reasons"])

    def test_a_busy_processor(self):
        spinner = subprocess.Popen(["taskset", "-c", "0", sys.executable, "-c", "while True: pass"])
        try:
            result = self.provoked("starved", self.url(), "-d", "3s", "-c", "32")
            self.provoked("send_delay", self.url(), "-d", "3s", "-c", "200", "-r", "3000/s")
        finally:
            spinner.kill()
            spinner.wait()
        self.assertNotEqual(result["validity"], "valid")

    def test_a_saturated_processor(self):
        self.provoked("cpu_bound", self.url(), "-d", "3s", "-c", "64")

    def test_more_answers_than_can_be_read(self):
        # What is done with each takes longer than the target does.
        check = 'sha512(body) != md5(body)'
        load = f"{{load: {{users: 256, for: 3s}}, steps: [{{get: /bytes/16384, check: {check}}}]}}"
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.yaml")
            with open(plan, "w") as file:
                file.write(f"target: {self.url()}\nscenarios: {{u: {load}}}\n")
            result = self.provoked("receive_delay", "run", plan, "--out", os.path.join(folder, "run"))
        # Latencies end when the kernel has an answer: what it waits for squall is no part of them.
        delay = result["generator"]["receive_delay_us"]["p50"]
        self.assertLess(result["totals"]["latency_us"]["p50"], delay)

    def provoked(self, rule, *arguments):
        """A run of one worker on one processor that has this reason: the first of six, as other guests
        of a shared machine can change what is the limit."""
        for _ in range(6):
            result = json_of(["taskset", "-c", "0", SQUALL, *arguments, "-w", "1"])
            if rule in reasons(result):
                return result
        raise AssertionError(f"no {rule}: {result['validity_reasons']}")

    def test_a_small_range_of_ports(self):
        code, result = in_a_network_of_its_own("40000 40099", "-c", "4", "-n", "400", "--strict")
        self.assertEqual(code, 3)
        self.assertIn("no_free_port", result["totals"]["error_kinds"])
        self.assertEqual(reasons(result)["ports"]["validity"], "invalid")
        self.assertEqual(result["host_metrics"]["ports_limit"], 100)
        self.assertGreaterEqual(result["host_metrics"]["ports_used"], 80)

    def test_ports_that_will_run_out(self):
        code, result = in_a_network_of_its_own("40000 40999", "-c", "50", "-r", "140/s", "-d", "6s")
        self.assertEqual((code, result["totals"]["errors"]), (0, 0))
        ports = reasons(result)["ports"]
        # Nothing has failed yet: a note.
        self.assertEqual((ports["validity"], ports["effect"]["rate"]), ("valid", 0))
        self.assertRegex(ports["observed"], r"at this rate the rest lasts [\d.]+ m?s")

    def test_connections_that_are_lost(self):
        # A listener with room for one connection, which begins to accept late: the kernel drops the SYNs of the others,
        # and they are sent again after a second.
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            threading.Thread(target=answer, args=(listener,), daemon=True).start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            arguments = [url, "-c", "10", "-n", "10", "-t", "5s", "--no-keepalive", "--quiet", "--json", "-"]
            # What was dropped may be sent again too late for some of them: these are errors, and not what this is about.
            ran = subprocess.run([SQUALL, *arguments], capture_output=True, text=True, timeout=60)
            self.assertIn(ran.returncode, (0, 1), ran.stderr)
            result = json.loads(ran.stdout)
        found = reasons(result)
        self.assertIn("retransmits", found, result["validity_reasons"])
        self.assertGreater(result["counters"]["segments_retransmitted"], 0)
        self.assertGreater(result["host_metrics"]["listen_overflows"], 0)

    def test_what_others_open_takes_no_ports(self):
        # Other programs' connections, to another destination.
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
            held = []
            for _ in range(8_000):
                held.append(socket.create_connection(listener.getsockname()))
                held.append(listener.accept()[0])
            result = squall(self.url(), "-c", "10", "-r", "100/s", "-d", "2s")
            for connection in held:
                connection.close()
        # What earlier runs have closed toward the same target counts; these 8,000 do not.
        self.assertLess(result["host_metrics"]["ports_used"], 8_000)
        self.assertNotIn("ports", reasons(result))


def answer(listener):
    """Answers each connection's request once, from half a second on."""
    time.sleep(0.5)
    while True:
        try:
            connection, _ = listener.accept()
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            connection.close()
        except OSError:
            return


def in_a_network_of_its_own(ports, *arguments):
    """Runs squall with a new connection for each request where only these ports are given out."""
    script = f"""
        ip link set lo up && echo '{ports}' > /proc/sys/net/ipv4/ip_local_port_range || exit 99
        # Otherwise connections over loopback take ports again that are in TIME_WAIT.
        echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse
        '{SQUALL}' target -l 127.0.0.1:8080 >/dev/null & target=$!
        sleep 1
        '{SQUALL}' http://127.0.0.1:8080/ --no-keepalive --quiet --json - {' '.join(arguments)}
        code=$?
        kill $target
        exit $code
    """
    ran = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "sh", "-c", script],
                         capture_output=True, text=True, timeout=60)
    if not ran.stdout:
        raise AssertionError(f"exit code {ran.returncode}: {ran.stderr}")
    return ran.returncode, json.loads(ran.stdout)


def undisturbed(*arguments):
    """A run that the machine's other guests have left alone: the first of three, or the last."""
    for _ in range(3):
        result = squall(*arguments)
        if result["validity"] == "valid":
            break
        print("disturbed:", result["validity_reasons"])
    return result


def json_of(command):
    ran = subprocess.run([*command, "--quiet", "--json", "-"], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(ran.stdout)


if __name__ == "__main__":
    unittest.main()
