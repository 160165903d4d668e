#!/usr/bin/env python3
"""A load that is killed, interrupted, or run beside another: the knowledge base is as before or as after."""
import os
import random
import signal
import subprocess
import time

from support import Case, main

FACTS = 60_000


def version(number, count=FACTS):
    """A file of which every version shares half of its facts with the one before."""
    lines = []
    for i in range(count):
        owner = number if i % 2 else number // 2
        lines.append(f'<urn:x:s{i}> <urn:x:p{i % 17}> "v{owner} {i}" .\n')
        if i % 100 == 0:
            lines.append(f'<urn:x:s{i}> <http://www.w3.org/2000/01/rdf-schema#label> "thing {i} of {owner}"@en .\n')
    return "".join(lines)


class Killed(Case):
    def test_kill_at_any_moment(self):
        """Fifty loads, each killed with SIGKILL at a random moment."""
        rng = random.Random(20240229)
        self.askbase("load", self.file("data.nt", version(0)))
        start = time.monotonic()
        self.file("data.nt", version(1))
        self.askbase("load", self.path("data.nt"))
        duration = time.monotonic() - start
        current = self.export()
        killed_early = finished = after = 0
        for round_number in range(2, 52):
            self.file("data.nt", version(round_number))
            process = subprocess.Popen(self.command("load", self.path("data.nt")), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, duration * 1.1))
            process.kill()
            status = process.wait()
            finished += status == 0
            killed_early += status != 0
            found = self.export()
            if found != current:
                # Not as before: then wholly the new version.
                fresh = self.path(f"fresh-{round_number}")
                self.askbase("load", self.path("data.nt"), kb=fresh)
                self.assertTrue(found == self.export(kb=fresh), f"round {round_number}: a mix of two states")
                after += 1
                current = found
            elif status == 0:
                self.fail(f"round {round_number}: load said done, and the facts are not there")
            self.check()
        print(f"killed {killed_early} of 50 loads, {finished} had ended, {after} left the new facts")
        self.assertGreater(killed_early, 10)
        # No debris grows: a last load works and what it leaves is of ordinary size.
        self.askbase("load", self.path("data.nt"))
        size = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(self.kb) for name in names)
        self.assertLess(size, 60 << 20)

    def test_kill_of_the_very_first_load(self):
        rng = random.Random(5)
        path = self.file("data.nt", version(0))
        for round_number in range(5):
            kb = self.path(f"first-{round_number}")
            process = subprocess.Popen(self.command("load", path, kb=kb), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.005, 0.4))
            process.kill()
            process.wait()
            self.askbase("load", path, kb=kb)
            self.check(kb=kb)


class Interrupted(Case):
    def test_ctrl_c_leaves_the_kb_as_it_was(self):
        self.load_cities()
        before = self.export("--format", "nq")
        path = self.file("big.nt", version(3, 400_000))
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(self.command("load", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(0.5)
            process.send_signal(number)
            start = time.monotonic()
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, errors)
            self.assertIn("error: ", errors)
            self.assertLess(time.monotonic() - start, 10)
            self.assertEqual(self.export("--format", "nq"), before)
            self.check()

    def test_second_load_at_once_is_refused_and_harmless(self):
        path = self.file("big.nt", version(1, 300_000))
        other = self.file("small.nt", "<urn:x:a> <urn:x:b> <urn:x:c> .\n")
        self.load_cities()
        first = subprocess.Popen(self.command("load", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.4)
        second = subprocess.run(self.command("load", other), capture_output=True, text=True, timeout=120)
        _, errors = first.communicate(timeout=300)
        self.assertEqual(first.returncode, 0, errors)
        if second.returncode == 0:
            self.fail("the first load was over too soon for this test: give it more facts")
        self.assertEqual(second.returncode, 1)
        self.assertIn("error: ", second.stderr)
        self.assertRegex(second.stderr, r"pid \d+|load")
        self.check()
        self.askbase("load", other)

    def test_readers_beside_a_load_see_one_state(self):
        """Each reader sees the old version or the new, never a mix."""
        self.askbase("load", self.file("data.nt", version(0, 20_000)))
        states = {self.export()}
        for number in range(1, 5):
            fresh = self.path(f"fresh-{number}")
            self.askbase("load", self.file("data.nt", version(number, 20_000)), kb=fresh)
            states.add(self.export(kb=fresh))
            loader = subprocess.Popen(self.command("load", self.path("data.nt")), stdout=subprocess.DEVNULL)
            while loader.poll() is None:
                self.assertIn(self.export(), states)
            self.assertEqual(loader.wait(), 0)


if __name__ == "__main__":
    main()
