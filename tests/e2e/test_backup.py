#!/usr/bin/env python3
"""Backup, restore, upgrade, and a knowledge base that an earlier version wrote."""
import os
import shutil
import subprocess
import time

from support import SOURCE, Case, main


class Backup(Case):
    def test_backup_and_restore(self):
        self.load_cities()
        saved = self.export("--format", "nq")
        backup = self.path("backup")
        self.assertIn("backup of", self.askbase("backup", backup).stdout)
        self.check(kb=backup)
        self.assertEqual(self.export("--format", "nq", kb=backup), saved)

        self.askbase("delete", "--source", "cities.ttl")
        self.assertIn("--replace", self.refused("restore", backup, status=2))
        self.askbase("restore", backup, "--replace")
        self.assertEqual(self.export("--format", "nq"), saved)
        self.check()
        # Both live on by themselves.
        self.askbase("load", self.file("more.nt", "<urn:x:a> <urn:x:b> <urn:x:c> .\n"))
        self.check()
        self.check(kb=backup)
        self.assertEqual(self.export("--format", "nq", kb=backup), saved)
        other = self.path("other")
        self.askbase("restore", backup, kb=other)
        self.assertEqual(self.export("--format", "nq", kb=other), saved)
        leftovers = [name for name in os.listdir(self.folder) if "restoring" in name]
        self.assertEqual(leftovers, [])

    def test_refusals(self):
        self.load_cities()
        taken = self.path("taken")
        os.mkdir(taken)
        self.file("taken/x", "")
        self.assertIn("taken", self.refused("backup", taken, status=2))
        self.refused("restore", taken, kb=self.path("new"))
        self.refused("restore", self.path("missing"), kb=self.path("new"))
        self.assertFalse(os.path.exists(self.path("new")))
        backup = self.path("backup")
        self.askbase("backup", backup)
        self.refused("restore", backup, "--replace", kb=taken, status=None)
        self.assertEqual(os.listdir(taken), ["x"])
        self.refused("restore", self.kb, "--replace", status=2)
        self.check()

    def test_damaged_backup_is_not_restored(self):
        self.load_cities()
        before = self.export()
        backup = self.path("backup")
        self.askbase("backup", backup)
        damaged = self.path("damaged")
        shutil.copytree(backup, damaged)
        files = [os.path.join(at, name) for at, _, names in os.walk(damaged) for name in names if name.endswith(".sst")]
        for path in files:
            with open(path, "r+b") as out:
                out.seek(os.path.getsize(path) // 3)
                out.write(b"\xa5" * 16)
        if files:
            self.refused("restore", damaged, "--replace")
            self.refused("check", kb=damaged)
        self.assertEqual(self.export(), before)

    def test_backup_while_serving_and_loading(self):
        self.load_cities()
        before = self.stats()["facts"]
        server = self.serve()
        backup = self.path("backup")
        self.askbase("backup", backup)
        self.check(kb=backup)
        self.assertIn("error", self.refused("restore", backup, "--replace"))  # the server holds it
        self.assertEqual(server.answer("What is the capital of Freedonia?"), "Fredville")
        big = self.file("big.nt", "".join(f'<urn:x:{i}> <urn:x:p> "{i}" .\n' for i in range(200_000)))
        loader = subprocess.Popen(self.command("load", big), stdout=subprocess.DEVNULL)
        count = 0
        while loader.poll() is None:
            copy = self.path(f"backup-{count}")
            self.askbase("backup", copy)
            self.assertIn(self.check(kb=copy)["facts"], (before, before + 200_000))
            count += 1
        self.assertEqual(loader.wait(), 0)
        self.assertGreater(count, 0)

    def test_upgrade_of_the_newest_format(self):
        self.load_cities()
        before = self.export()
        self.assertIn("format 2, the newest", self.askbase("upgrade").stdout)
        self.assertEqual(self.export(), before)


class OldFormats(Case):
    def test_format_1(self):
        """A knowledge base as the first version wrote it opens, is whole, answers and can be written to."""
        shutil.copytree(os.path.join(SOURCE, "tests/fixtures/kb-v1"), self.kb)
        with open(os.path.join(SOURCE, "tests/fixtures/kb-v1.nq"), encoding="utf-8") as facts:
            self.assertEqual(self.export("--format", "nq"), facts.read())
        self.check()
        self.assertEqual(self.answer("What is the capital of Freedonia?"), "Fredville")
        self.assertEqual(self.answer("弗里多尼亚的首都是哪里？"), "弗雷德维尔")
        self.askbase("upgrade")
        self.askbase("load", self.file("more.nt", "<urn:x:a> <urn:x:b> <urn:x:c> .\n"))
        self.check()


if __name__ == "__main__":
    main()
