#!/usr/bin/env python3
"""Files that are not what they seem: refused with file:line: reason, and the knowledge base stays as it was."""
import gzip
import os
import subprocess
import tempfile
import unittest

from support import Case, main

TRIPLE = b"<urn:x:a> <urn:x:b> <urn:x:c> .\n"

# name -> (content, what the message must hold)
BAD_FILES = {
    "no-dot.nt": (TRIPLE + b"<urn:x:a> <urn:x:b> <urn:x:c>\n" + TRIPLE, "no-dot.nt:2"),
    "unclosed.nt": (b'<urn:x:a> <urn:x:b> "open .\n', "unclosed.nt:1"),
    "space-in-iri.nt": (b"<urn:x a> <urn:x:b> <urn:x:c> .\n", "space-in-iri.nt:1"),
    "relative.nt": (b"<a> <urn:x:b> <urn:x:c> .\n", "relative.nt:1"),
    "literal-subject.nt": (b'"a" <urn:x:b> <urn:x:c> .\n', "literal-subject.nt:1"),
    "bad-escape.nt": (b'<urn:x:a> <urn:x:b> "\\x" .\n', "bad-escape.nt:1"),
    "surrogate.nt": (b'<urn:x:a> <urn:x:b> "\\uD800" .\n', "surrogate.nt:1"),
    "bad-utf8.nt": (TRIPLE + b'<urn:x:a> <urn:x:b> "\xff\xfe" .\n', "bad-utf8.nt:2"),
    "nul.nt": (TRIPLE + b'<urn:x:a> <urn:x:b> "a\x00b" .\n', "nul.nt:2"),
    "nul-escape.nt": (b'<urn:x:a> <urn:x:b> "a\\u0000b" .\n', "nul-escape.nt:1"),
    "no-prefix.ttl": (b"x:a x:b x:c .\n", "no-prefix.ttl:1"),
    "cut.ttl": (b"@prefix x: <urn:x:> .\nx:a x:b [ x:c (1 2", "cut.ttl"),
    "deep.ttl": (b"<urn:x:a> <urn:x:b> " + b"(" * 100_000, "deep.ttl"),
    "not-rdf.ttl": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not-rdf.ttl"),
    "html.nt": (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "html.nt:1"),
    "missing-o.jsonl": (b'{"s":"a","p":"b"}\n', "missing-o.jsonl:1"),
    "number-s.jsonl": (b'{"s":"a","p":"b","o":"c"}\n{"s":5,"p":"b","o":"c"}\n', "number-s.jsonl:2"),
    "unknown-key.jsonl": (b'{"s":"a","p":"b","o":"c","q":"d"}\n', "unknown-key.jsonl:1"),
    "array.jsonl": (b'[{"s":"a","p":"b","o":"c"}]\n', "array.jsonl:1"),
    "deep.jsonl": (b'{"s":"a","p":"b","o":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "deep.jsonl:1"),
    "cut.jsonl": (b'{"s":"a","p":"b","o"', "cut.jsonl:1"),
    "bad-utf8.jsonl": (b'{"s":"a","p":"b","o":"\xc3("}\n', "bad-utf8.jsonl:1"),
    "open-quote.csv": (b'name,size\n"Ann,1\nBob,2\n', "open-quote.csv"),
    "too-many.csv": (b"name,size\nAnn,1\nBob,2,3,4\n", "too-many.csv:3"),
    "mixed-encodings.csv": ("name,city\nAnn,北京\n".encode() + "王芳,西尔堡\n".encode("gb18030"), "mixed-encodings.csv"),
    "odd-utf16.csv": (b"\xff\xfe" + "name,size\nAnn,1\n".encode("utf-16-le") + b"x", "odd-utf16.csv"),
    "nul.csv": (b"name,size\nA\x00nn,1\n", "nul.csv"),
    "binary.csv": (bytes(range(256)) * 20, "binary.csv"),
    "damaged.nt.gz": (gzip.compress(TRIPLE * 5000)[:-40], "damaged.nt.gz"),
    "not-really.nt.gz": (b"\x1f\x8b\x08" + b"junk" * 10, "not-really.nt.gz"),
    "unknown.pdf": (b"%PDF-1.4\n", "unknown.pdf"),
}


class BadInput(Case):
    def setUp(self):
        super().setUp()
        self.load_cities()
        self.before = self.export("--format", "nq")

    def tearDown(self):
        self.assertEqual(self.export("--format", "nq"), self.before)
        self.check()

    def test_bad_files_are_refused_with_the_place(self):
        for name, (content, place) in BAD_FILES.items():
            with self.subTest(name):
                error = self.refused("load", self.file(name, content), status=None, timeout=60)
                self.assertIn(place, error)

    def test_line_of_a_hundred_megabytes(self):
        big = self.path("big.nt")
        with open(big, "wb") as out:
            out.write(TRIPLE + b'<urn:x:a> <urn:x:b> "')
            for _ in range(100):
                out.write(b"x" * 1_000_000)
            out.write(b'" .\n')
        for name in ["big.nt", "big.jsonl", "big.csv", "big.ttl"]:
            with self.subTest(name):
                if name != "big.nt":
                    os.link(big, self.path(name))
                self.assertIn(name, self.refused("load", self.path(name), timeout=120))

    def test_not_files(self):
        self.assertIn(self.folder, self.refused("load", self.folder, "--format", "nt"))
        self.refused("load", self.folder, status=None)
        self.assertIn("missing.nt", self.refused("load", self.path("missing.nt")))
        self.refused("load", "/dev/null/x.nt")
        os.symlink(self.path("loop.nt"), self.path("loop.nt"))
        self.assertIn("loop.nt", self.refused("load", self.path("loop.nt")))

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_file_without_permission(self):
        path = self.file("secret.nt", TRIPLE)
        os.chmod(path, 0)
        self.assertIn("secret.nt", self.refused("load", path))

    def test_skip_bad_reads_on(self):
        kb = self.path("other")
        lines = [TRIPLE, b"junk\n", b'<urn:x:a> <urn:x:b> "\xff" .\n', b"<urn:x:a> <urn:x:b> <urn:x:d> .\n"]
        report = self.json("load", self.file("some.nt", b"".join(lines)), "--skip-bad", kb=kb)
        self.assertEqual((report["facts"], report["bad_lines"]), (2, 2))
        report = self.json("load", self.file("some.jsonl", b'{"s":"a","p":"b","o":"c"}\n{"s":"a"}\n{}\n'), "--skip-bad", kb=kb)
        self.assertEqual(report["bad_lines"], 2)
        report = self.json("load", self.file("some.csv", b"name,size\nAnn,1\nBob,2,3\nCyd,4\n"), "--skip-bad", kb=kb)
        self.assertEqual(report["bad_lines"], 1)
        self.check(kb=kb)

    def test_names_of_files_with_odd_letters(self):
        kb = self.path("odd")
        for name in ["with space.nt", "中文 文件.nt", "quote'\"s.nt", "semi;colon&.nt", "-dash.nt"]:
            with self.subTest(name):
                self.askbase("load", self.file(name, TRIPLE), kb=kb)
        sources = {source["source"] for source in self.stats(kb=kb)["sources"]}
        self.assertIn("中文 文件.nt", sources)


class FullDisk(Case):
    def facts(self, count):
        return "".join(f'<urn:x:{i}> <urn:x:p> "value {i * 7919 % 100003} of {i}" .\n' for i in range(count))

    def check_refused(self, done):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("error: ", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_full_disk_leaves_the_kb_as_it_was(self):
        mounted = tempfile.mkdtemp(prefix="askbase-full-")
        self.addCleanup(os.rmdir, mounted)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", mounted], capture_output=True).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", "-l", mounted], check=True)
        kb = os.path.join(mounted, "kb")
        self.load_cities(kb=kb)
        before = self.export("--format", "nq", kb=kb)
        error = self.refused("load", self.file("big.nt", self.facts(300_000)), kb=kb, timeout=300)
        self.assertIn("space", error.lower())
        self.assertEqual(self.export("--format", "nq", kb=kb), before)
        self.check(kb=kb)
        # With room again it goes on.
        self.askbase("load", self.file("small.nt", self.facts(10)), kb=kb)
        self.check(kb=kb)

    def test_file_size_limit_leaves_the_kb_as_it_was(self):
        self.load_cities()
        before = self.export("--format", "nq")
        limited = 'ulimit -f 400; trap "" XFSZ; exec "$0" "$@"'
        big = self.file("big.nt", self.facts(200_000))
        done = subprocess.run(["bash", "-c", limited, *self.command("load", big)], capture_output=True, text=True, timeout=300)
        self.check_refused(done)
        self.assertEqual(self.export("--format", "nq"), before)
        self.check()
        self.askbase("load", big)
        self.check()


if __name__ == "__main__":
    main()
