#!/usr/bin/env python3
"""Documents: loaded, replaced, deleted, killed, handed to a server, and over HTTP."""
import gzip
import http.client
import json
import random
import shutil
import subprocess
import time

from support import Case, main

LOAD = ("load", "--no-vectors", "--documents")


class Documents(Case):
    def test_formats(self):
        files = [
            self.file("a.txt", "A whale is a mammal.\n"),
            self.file("b.md", "# Ships\n\nA **ship** sails.\n"),
            self.file("c.html", "<title>Page</title><script>var x = 'hidden';</script><p>A harbour &amp; a pier"),
            self.file("d.jsonl.gz", gzip.compress(b'{"id": "one", "text": "First."}\n{"id": 2, "text": "Second."}\n')),
            self.file("e.txt", ""),
            self.file("f.txt", "鯨魚是哺乳動物。"),
        ]
        report = self.json(*LOAD, *files)
        self.assertEqual((report["added"], report["documents"], report["bad"]), (7, 7, 0))
        self.assertEqual(report["passages"], 6)
        stats = self.json("stats", "--documents")["documents"]
        titles = {one["id"]: one.get("title") for one in stats["list"]}
        self.assertEqual(titles, {"a.txt": None, "b.md": "Ships", "c.html": "Page", "one": None, "2": None,
                                  "e.txt": None, "f.txt": None})
        self.assertIn("7", self.askbase("stats").stdout)
        report = self.check()
        self.assertEqual((report["documents"], report["passages"]), (7, 6))
        again = self.json(*LOAD, *files)
        self.assertEqual((again["unchanged"], again["added"], again["documents"]), (7, 0, 7))

    def test_replace_and_delete(self):
        self.load_cities()
        path = self.file("set.jsonl", '{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n')
        self.askbase(*LOAD, path)
        self.file("set.jsonl", '{"id": "2", "text": "other"}\n{"id": "3", "text": "three"}\n')
        report = self.json(*LOAD, path)
        self.assertEqual((report["added"], report["replaced"], report["removed"], report["documents"]), (1, 1, 1, 2))
        self.askbase("delete", "--document", "3")
        self.assertIn("no document", self.refused("delete", "--document", "3"))
        self.assertEqual(self.json("delete", "--source", "set.jsonl")["removed"], 1)
        self.refused("delete", "--source", "set.jsonl")
        self.assertEqual(self.check()["documents"], 0)
        self.assertEqual(self.answer("What is the capital of Freedonia?"), "Fredville")

    def test_refusals_change_nothing(self):
        good = self.file("good.txt", "text")
        self.askbase(*LOAD, good)
        for name, content, words in (
                ("bad.jsonl", '{"id": "1", "text": "x"}\n{"id": "1", "text": "y"}\n', "bad.jsonl:2: the document \"1\" comes twice"),
                ("bad2.jsonl", '{"id": "1"}\n', 'bad2.jsonl:1: the document has no "text"'),
                ("bad.txt", b"caf\xe9 and \xff", "bad.txt"),
                ("bad.docx", b"PK", "not a document")):
            self.assertIn(words, self.refused(*LOAD, self.file(name, content)))
        self.refused("load", good, status=2)  # without --documents
        self.refused(*LOAD, self.path("none.txt"))
        self.refused("load", "--documents", "--preview", good, status=2)
        self.assertEqual(self.check()["documents"], 1)
        report = self.json(*LOAD, "--skip-bad", self.path("bad.jsonl"), self.path("bad.txt"))
        self.assertEqual((report["added"], report["bad"]), (1, 2))

    def test_pdf(self):
        if shutil.which("pdftotext") is None:
            self.skipTest("pdftotext is not installed")
        stream = b"BT /F1 12 Tf 72 720 Td (The whale is white.) Tj ET"
        objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                   b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
                   b"/Resources << /Font << /F1 5 0 R >> >> >>",
                   b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream",
                   b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
        data, offsets = b"%PDF-1.4\n", []
        for number, one in enumerate(objects, 1):
            offsets.append(len(data))
            data += b"%d 0 obj\n" % number + one + b"\nendobj\n"
        start = len(data)
        data += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % at for at in offsets)
        data += b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start
        report = self.json(*LOAD, self.file("whale.pdf", data))
        self.assertEqual((report["added"], report["passages"]), (1, 1))
        self.assertIn("broken.pdf: pdftotext cannot read it", self.refused(*LOAD, self.file("broken.pdf", b"no pdf")))

    def test_backup_and_restore(self):
        self.askbase(*LOAD, self.file("a.txt", "A whale."))
        self.askbase("backup", self.path("backup"))
        self.askbase("delete", "--document", "a.txt")
        self.askbase("restore", self.path("backup"), kb=self.path("restored"))
        self.assertEqual(self.check(kb=self.path("restored"))["documents"], 1)
        self.assertEqual(self.check()["documents"], 0)

    def test_killed_at_any_moment(self):
        rng = random.Random(7)

        def write(version):
            with open(self.path("set.jsonl"), "w", encoding="utf-8") as out:
                for i in range(400):
                    words = " ".join(f"w{rng.randrange(3000)}" for _ in range(150))
                    out.write(json.dumps({"id": str(i), "text": f"version {version}. {words}."}) + "\n")

        write(0)
        start = time.monotonic()
        self.askbase(*LOAD, self.path("set.jsonl"))
        duration = time.monotonic() - start
        for version in range(1, 9):
            write(version)
            process = subprocess.Popen(self.command(*LOAD, self.path("set.jsonl")), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, duration * 1.2))
            process.kill()
            process.wait()
            report = self.check()
            self.assertEqual(report["documents"], 400)
        self.askbase(*LOAD, self.path("set.jsonl"))
        self.check()

    def test_while_serving(self):
        self.load_cities()
        server = self.serve()
        self.askbase(*LOAD, self.file("a.txt", "A whale."))
        self.askbase("load", "--documents", "--format", "md", "-", stdin="# Ships\n\nA ship.\n")
        self.assertEqual({one["id"] for one in self.json("stats", "--documents")["documents"]["list"]},
                         {"a.txt", "standard input"})
        self.askbase("delete", "--document", "standard input")

        def send(method, path, body=None, **headers):
            status, _, answer = server.request(method, path, json.dumps(body) if body is not None else None,
                                               {"Content-Type": "application/json", **headers})
            return status, json.loads(answer) if answer else None

        document = {"id": "b/1 é", "text": "A harbour.", "title": "Harbours"}
        self.assertEqual(send("POST", "/api/v1/documents", document)[0], 201)
        status, answer = send("POST", "/api/v1/documents", document)
        self.assertEqual((status, answer["change"], answer["documents"]), (200, "unchanged", 2))
        document["text"] = "Another harbour."
        self.assertEqual(send("POST", "/api/v1/documents", document)[1]["change"], "replaced")
        ready = send("GET", "/readyz")[1]["passages"]
        self.assertEqual((ready["documents"], ready["passages"]), (2, 2))
        self.assertEqual(send("POST", "/api/v1/documents", {"id": "c"})[0], 400)
        self.assertEqual(send("POST", "/api/v1/documents", {"id": "c", "text": "x", "tilte": "t"})[0], 400)
        self.assertEqual(send("POST", "/api/v1/documents", {"id": "c", "text": "a\x00"})[0], 400)
        # Refused by its head: a client need not send what is not wanted.
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.putrequest("POST", "/api/v1/documents")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(17 << 20))
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()
        self.assertEqual(send("POST", "/api/v1/documents", {"id": "large", "text": "word " * 300_000})[0], 201)
        self.assertEqual(send("GET", "/api/v1/documents")[0], 405)
        self.assertEqual(send("DELETE", "/api/v1/documents/b%2F1%20%C3%A9")[0], 204)
        self.assertEqual(send("DELETE", "/api/v1/documents/b%2F1%20%C3%A9")[0], 404)
        self.assertEqual(send("DELETE", "/api/v1/documents/large")[0], 204)
        server.stop()
        self.assertEqual(self.check()["documents"], 1)

    def test_tokens_and_read_only(self):
        self.load_cities()
        document = json.dumps({"id": "a", "text": "x"})
        kind = {"Content-Type": "application/json"}
        server = self.serve("--token-file", self.file("token", "secret\n"))
        status, headers, _ = server.request("POST", "/api/v1/documents", document, kind)
        self.assertEqual((status, headers.get("WWW-Authenticate")), (401, "Bearer"))
        for wrong in ("Bearer other!", "Bearer secre", "Bearer ", "secret"):
            self.assertEqual(server.request("DELETE", "/api/v1/documents/a", None, {"Authorization": wrong})[0], 401)
        right = {**kind, "Authorization": "Bearer secret"}
        self.assertEqual(server.request("POST", "/api/v1/documents", document, right)[0], 201)
        server.stop()
        server = self.serve("--read-only")
        self.assertEqual(server.request("POST", "/api/v1/documents", document, kind)[0], 403)
        self.refused("serve", "--port", "0", "--token-file", self.file("empty", "\n"), status=2)

    def test_retrieval(self):
        paragraphs = [{"context": f"The {thing} of {place} is famous.",
                       "qas": [{"id": f"{thing}{place}", "question": f"Which {thing} has {place}?",
                                "answers": [{"text": thing, "answer_start": 4}]}]}
                      for thing in ("harbour", "tower", "bridge") for place in ("Fredville", "Sylburg")]
        data = self.file("data.json", json.dumps({"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]}))
        figures = self.json("eval", "retrieval", "--data", data, "--model", "none")
        self.assertEqual((figures["questions"], figures["passages"]), (6, 6))
        self.assertEqual((figures["recall_at_1"], figures["recall_at_20"], figures["mrr"]), (1, 1, 1))
        self.assertEqual(figures["mrr_ci"], [1, 1])
        self.refused("eval", "retrieval", "--data", self.path("none.json"))


if __name__ == "__main__":
    main()
