"""What the end-to-end tests share: the program, scratch folders, a running server.

The tests drive the built program as a user does, with Python's standard library alone. ASKBASE_BINARY names the
program (default build/release/cli/askbase), ASKBASE_SOURCE_DIR the repository.
"""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.path.abspath(os.environ.get("ASKBASE_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", ".."))
BINARY = os.path.abspath(os.environ.get("ASKBASE_BINARY") or os.path.join(SOURCE, "build/release/cli/askbase"))
ATLAS = os.path.join(SOURCE, "datasets", "atlas")

# Small facts in both languages that most tests load.
CITIES_TTL = """\
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix p: <urn:x:p:> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<urn:x:p:capital> rdfs:label "capital"@en, "首都"@zh .
<urn:x:p:population> rdfs:label "population"@en, "人口"@zh .
<urn:x:p:founded> rdfs:label "founded"@en, "成立时间"@zh .
<urn:x:Freedonia> a <urn:x:Country> ; rdfs:label "Freedonia"@en, "弗里多尼亚"@zh ;
  p:capital <urn:x:Fredville> ; p:population 5000000 .
<urn:x:Sylvania> a <urn:x:Country> ; rdfs:label "Sylvania"@en, "西尔瓦尼亚"@zh ;
  p:capital <urn:x:Sylburg> ; p:population 750000 .
<urn:x:Fredville> a <urn:x:City> ; rdfs:label "Fredville"@en, "弗雷德维尔"@zh ; skos:altLabel "Fred Town"@en ;
  p:population 123456 ; p:founded "1788"^^xsd:gYear .
<urn:x:Sylburg> a <urn:x:City> ; rdfs:label "Sylburg"@en, "西尔堡"@zh ; p:population 65432 .
<urn:x:Country> rdfs:label "country"@en, "国家"@zh .
<urn:x:City> rdfs:label "city"@en, "城市"@zh .
"""


class Case(unittest.TestCase):
    """A test with a scratch folder and a knowledge base path in it that does not exist yet."""

    maxDiff = 4000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="askbase-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.kb = os.path.join(self.folder, "kb")

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content):
        data = content.encode() if isinstance(content, str) else content
        with open(self.path(name), "wb") as out:
            out.write(data)
        return self.path(name)

    def command(self, *args, kb=None):
        return [BINARY, "--kb", kb or self.kb, *args]

    def askbase(self, *args, status=0, stdin=b"", kb=None, timeout=120, **options):
        """Runs a command; checks its exit status; output and errors are text."""
        if isinstance(stdin, str):
            stdin = stdin.encode()
        done = subprocess.run(self.command(*args, kb=kb), input=stdin, capture_output=True, timeout=timeout, **options)
        done.stdout = done.stdout.decode("utf-8", "strict")
        done.stderr = done.stderr.decode("utf-8", "strict")
        if status is not None and done.returncode != status:
            self.fail(f"askbase {' '.join(map(str, args))}: exit status {done.returncode} instead of {status}\n"
                      f"--- output\n{done.stdout[-2000:]}\n--- errors\n{done.stderr[-2000:]}")
        return done

    def json(self, *args, **options):
        return json.loads(self.askbase(*args, "--json", **options).stdout)

    def refused(self, *args, status=1, **options):
        """A command that must fail: one line that says why, perhaps a hint, and nothing else on standard error."""
        done = self.askbase(*args, status=status, **options)
        lines = done.stderr.splitlines()
        errors = [line for line in lines if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertLessEqual(len([line for line in lines if line.startswith("hint: ")]), 1, done.stderr)
        return done.stderr

    def load_cities(self, kb=None):
        self.askbase("load", self.file("cities.ttl", CITIES_TTL), kb=kb)

    def ask(self, question, *args, **options):
        return self.json("ask", question, *args, **options)

    def answer(self, question, *args, **options):
        """The text of the first answer, or the reason for none."""
        response = self.ask(question, *args, **options)
        return response["answers"][0]["answer"] if response["answers"] else response["reason"]

    def stats(self, kb=None):
        return self.json("stats", kb=kb)

    def export(self, *args, kb=None):
        return self.askbase("export", *args, kb=kb).stdout

    def check(self, kb=None):
        """Every index agrees."""
        report = self.json("check", kb=kb)
        self.assertEqual(report["problems"], [])
        return report

    def serve(self, *args, kb=None):
        server = Server(self.command("serve", "--port", "0", *args, kb=kb))
        self.addCleanup(server.close)
        return server


class Server:
    """A running `askbase serve` on a free port."""

    def __init__(self, command, timeout=60):
        self.started = time.monotonic()
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log)
        line = self.process.stdout.readline().decode()
        self.seconds_to_ready = time.monotonic() - self.started
        ready = re.match(r"askbase is ready on http://127\.0\.0\.1:(\d+)(/\S*)$", line)
        if not ready:
            self.stop()
            errors = self.errors()
            self.log.close()
            raise AssertionError(f"no server: {line!r}\n{errors}")
        self.port = int(ready.group(1))
        self.base_path = ready.group(2)

    def errors(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def request(self, method, path, body=None, headers=None, timeout=30):
        """(status, headers, body as bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def ask(self, question, **fields):
        body = json.dumps({"question": question, **fields}).encode()
        status, _, answer = self.request("POST", "/api/v1/ask", body, {"Content-Type": "application/json"})
        if status != 200:
            raise AssertionError(f"{status}: {answer!r}")
        return json.loads(answer)

    def answer(self, question, **fields):
        response = self.ask(question, **fields)
        return response["answers"][0]["answer"] if response["answers"] else response["reason"]

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))

    def stop(self, number=signal.SIGTERM, timeout=20):
        """Sends the signal; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = "killed"
        self.process.stdout.close()
        return status

    def close(self):
        self.stop()
        self.log.close()


def main():
    if not os.path.exists(BINARY):
        print(f"no program at {BINARY}; build it, or set ASKBASE_BINARY", file=sys.stderr)
        sys.exit(1)
    unittest.main(verbosity=2)
