#!/usr/bin/env python3
"""./run, ./test and what they share: help without a build, refusals, bounds."""
import os
import shutil
import subprocess
import unittest

from support import SOURCE, Case, main


class Scripts(Case):
    def setUp(self):
        super().setUp()
        for name in ["run", "test"]:
            shutil.copy(os.path.join(SOURCE, name), self.path(name))
        shutil.copytree(os.path.join(SOURCE, "cmake"), self.path("cmake"))

    def bash(self, script, status=0):
        done = subprocess.run(["bash", "-c", "set -euo pipefail; . cmake/setup.sh\n" + script], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_help_without_building(self):
        for args in [["./run", "--help"], ["./run", "-h"], ["./run", "--kb", "x", "--help"], ["./test", "--help"]]:
            done = subprocess.run(args, cwd=self.folder, capture_output=True, text=True, timeout=10)
            self.assertEqual(done.returncode, 0)
            self.assertIn(args[0], done.stdout)
            self.assertEqual(done.stderr, "")
        self.assertFalse(os.path.exists(self.path("build")))

    def test_run_hands_commands_over(self):
        """With a program that only says what it was given."""
        program = self.file("program", '#!/bin/sh\nprintf "%s|" "$@"\n')
        os.chmod(program, 0o755)
        os.makedirs(self.path("datasets/atlas"))
        os.makedirs(self.path("kb"))
        for name in ["datasets/atlas/a.ttl", "datasets/atlas/b.ttl.gz", "kb/x.h", "kb/x.cpp"]:
            self.file(name, "")
        demo = self.path("build/demo-kb")
        os.makedirs(demo)
        files = " ".join(["datasets/atlas/a.ttl", "datasets/atlas/b.ttl.gz", "kb/x.h", "kb/x.cpp"])
        stamp = subprocess.run(f"cat {files} | sha256sum", shell=True, cwd=self.folder, capture_output=True, text=True).stdout
        self.file("build/demo-kb.stamp", stamp)
        for args, given in {
            ("load", "my file.csv", "--kb", "x"): "load|my file.csv|--kb|x|",
            ("load", "f.csv"): "load|f.csv|",
            ("--kb", "x", "ask", "q"): "--kb|x|ask|q|",
            ("ask", "q"): f"--kb|{demo}|ask|q|",
            ("ask", "serve"): f"--kb|{demo}|ask|serve|",
            (): f"--kb|{demo}|serve|",
            ("--port", "0"): f"--kb|{demo}|serve|--port|0|",
            ("--threads", "1", "serve", "--port", "0"): f"--kb|{demo}|--threads|1|serve|--port|0|",
            ("--kb=x",): "serve|--kb=x|",
            ("ask", "--help"): "ask|--help|",
            ("eval", "compare", "a", "b"): "eval|compare|a|b|",
            ("nonsense",): "nonsense|",
        }.items():
            with self.subTest(args):
                done = subprocess.run(["./run", *args], cwd=self.folder, capture_output=True, text=True, timeout=10,
                                      env={**os.environ, "ASKBASE_BINARY": program})
                self.assertEqual(done.stdout, given, done.stderr)

    def test_other_systems_are_refused_with_what_is_needed(self):
        done = self.bash('os_release() { [[ $1 == PRETTY_NAME ]] && echo "Fedora Linux 40" || echo fedora; }; '
                         'install_packages alpha beta', status=1)
        for word in ["Fedora Linux 40", "Debian 12", "alpha beta", "ASKBASE_SKIP_INSTALL"]:
            self.assertIn(word, done.stderr)
        self.bash('os_release() { echo fedora; }; ASKBASE_SKIP_INSTALL=1 install_packages alpha')

    def test_nothing_is_installed_when_nothing_is_missing(self):
        self.bash('os_release() { [[ $1 == ID ]] && echo debian || echo 12; }; is_installed() { true; }; '
                  'apt_get() { exit 9; }; install_packages alpha beta')

    def test_only_missing_packages_are_installed(self):
        done = self.bash('os_release() { [[ $1 == ID ]] && echo ubuntu || echo 24.04; }; is_installed() { [[ $1 != beta ]]; }; '
                         'sudo() { :; }; apt_get() { echo "$@"; }; install_packages alpha beta gamma')
        self.assertEqual(done.stdout, "install -y --no-install-recommends beta\n")

    def test_jobs_are_bounded(self):
        self.assertEqual(self.bash("ASKBASE_JOBS=3 job_count").stdout, "3")
        self.assertEqual(self.bash("nproc() { echo 64; }; awk() { echo 5000; }; job_count").stdout, "4")
        self.assertEqual(self.bash("nproc() { echo 64; }; awk() { echo 300; }; job_count").stdout, "1")
        self.assertEqual(self.bash("nproc() { echo 2; }; awk() { echo 900000; }; job_count").stdout, "2")

    @unittest.skipUnless(shutil.which("shellcheck"), "no shellcheck here")
    def test_shellcheck(self):
        subprocess.run(["shellcheck", "-x", "run", "test", ".ci/run", "cmake/setup.sh"], cwd=SOURCE, check=True)


if __name__ == "__main__":
    main()
