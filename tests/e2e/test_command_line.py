#!/usr/bin/env python3
"""Usage, help, exit statuses, global options, output that cannot be written."""
import json
import os
import subprocess
import unittest

from support import BINARY, Case, main

COMMANDS = ["load", "delete", "ask", "search", "show", "serve", "stats", "check", "backup", "restore", "upgrade",
            "export", "eval"]


class CommandLine(Case):
    def run_bare(self, *args, **options):
        return subprocess.run([BINARY, *args], capture_output=True, text=True, timeout=60, **options)

    def test_help_lists_every_command(self):
        done = self.run_bare("--help")
        self.assertEqual(done.returncode, 0)
        for name in COMMANDS:
            self.assertRegex(done.stdout, rf"(?m)^  {name} ")
        self.assertEqual(done.stderr, "")

    def test_every_command_has_help_with_an_example(self):
        for name in COMMANDS + ["eval kbqa", "eval compare"]:
            with self.subTest(name):
                done = self.run_bare(*name.split(), "--help")
                self.assertEqual(done.returncode, 0)
                self.assertIn(f"askbase --kb my-kb {name.split()[0]}", done.stdout)

    def test_version(self):
        done = self.run_bare("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^askbase \d+\.\d+\.\d+\n$")

    def test_unknown_commands_are_named(self):
        for word in ["adapt", "query"]:
            with self.subTest(word):
                self.assertIn(f'no command "{word}"', self.refused(word, status=2))
        self.assertIn('did you mean "search"', self.refused("serach", "x", status=2))
        self.assertIn('"matching"', self.refused("eval", "matching", status=2))

    def test_no_command(self):
        done = self.run_bare()
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: askbase needs a command", done.stderr)
        self.refused("eval", status=2)

    def test_wrong_usage_is_status_2(self):
        for args in [["ask"], ["ask", "x", "--lang", "fr"], ["ask", "x", "--top", "0"], ["ask", "x", "--top", "many"],
                     ["ask", "x", "--no-such-option"], ["ask", "two", "questions"], ["load"],
                     ["load", "x.csv", "--strict", "--skip-bad"], ["load", "x", "--format", "docx"],
                     ["load", "x.csv", "--split", "column"], ["delete"], ["delete", "--source", "a", "--subject", "urn:x:b"],
                     ["delete", "--subject", "no term"], ["ask", "x", "--pin", "Paris"], ["serve", "--port", "70000"],
                     ["stats", "--threads", "0"], ["stats", "--log-level", "loud"], ["ask", "x", "--min-confidence", "2"],
                     ["search", "x", "--limit", "0"]]:
            with self.subTest(args):
                self.refused(*args, status=2)

    def test_global_options_stand_anywhere(self):
        self.load_cities()
        for args in [["--kb", self.kb, "stats", "--json"], ["stats", "--json", "--kb", self.kb],
                     ["stats", f"--kb={self.kb}", "--json", "--threads", "1", "--log-level", "debug"]]:
            done = self.run_bare(*args)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["sources"][0]["source"], "cities.ttl")

    def test_default_kb_is_in_the_working_folder(self):
        self.file("a.nt", "<urn:x:a> <urn:x:b> <urn:x:c> .\n")
        done = self.run_bare("load", "a.nt", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.isdir(self.path("askbase-kb")))

    def test_config_file(self):
        self.load_cities()
        config = self.file("askbase.toml", f'kb = "{self.kb}"\nthreads = 1\n[search]\nlimit = 1\n')
        done = self.run_bare("--config", config, "search", "Syl", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)), 1)
        # The command line wins.
        done = self.run_bare("search", "Syl", "--json", "--limit", "2", "--config", config)
        self.assertEqual(len(json.loads(done.stdout)), 2)
        done = self.run_bare("--config", self.file("bad.toml", "no_such_option = 1\n"), "stats")
        self.assertEqual(done.returncode, 2)
        done = self.run_bare("--config", self.path("missing.toml"), "stats")
        self.assertEqual(done.returncode, 2)
        self.assertIn("missing.toml", done.stderr)

    def test_missing_kb(self):
        for args in [["ask", "x"], ["stats"], ["check"], ["search", "x"], ["show", "x"], ["export"], ["serve"],
                     ["upgrade"], ["backup", self.path("b")], ["delete", "--source", "x"]]:
            with self.subTest(args):
                error = self.refused(*args)
                self.assertIn(self.kb, error)
                self.assertIn("askbase load", error)
                self.assertFalse(os.path.exists(self.kb))

    def test_folder_that_is_no_kb(self):
        os.mkdir(self.kb)
        with open(os.path.join(self.kb, "precious.txt"), "w") as out:
            out.write("mine")
        self.refused("stats", status=None)
        self.refused("load", self.file("a.nt", "<urn:x:a> <urn:x:b> <urn:x:c> .\n"), status=2)
        self.assertEqual(os.listdir(self.kb), ["precious.txt"])

    def test_log_format_json(self):
        server = self.path("kb")
        self.load_cities()
        running = self.serve("--log-format", "json", kb=server)
        running.answer("What is the capital of Freedonia?")
        running.stop()
        for line in running.errors().splitlines():
            self.assertLessEqual({"time", "level", "message"}, set(json.loads(line)))

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_output_that_cannot_be_written(self):
        self.load_cities()
        for args in [["export"], ["ask", "What is the capital of Freedonia?"], ["stats", "--json"]]:
            with open("/dev/full", "wb") as full:
                done = subprocess.run(self.command(*args), stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn(b"error: ", done.stderr)

    def test_data_cannot_command_the_terminal(self):
        self.askbase("load", self.file("evil.nt", '<urn:x:a> <http://www.w3.org/2000/01/rdf-schema#label> '
                                                  '"\\u001B[31mred\\u0007" .\n'))
        out = self.askbase("show", "urn:x:a").stdout
        self.assertNotIn("\x1b", out)
        self.assertNotIn("\x07", out)


if __name__ == "__main__":
    main()
