#!/usr/bin/env python3
"""What README.md, README.zh-CN.md and docs say is true: their commands are run, their outputs compared.

In the pages, `<!-- test -->` in front of a block of commands has it run; `<!-- output -->` in front of the next
block says that those lines come out, in this order ("..." stands for lines left out, and inside a line for any
text). The commands run in a folder that looks like the repository, so that nothing is written to it; a server of
the knowledge base that ships answers on the port that the pages name.
"""
import os
import re
import subprocess

from support import BINARY, SOURCE, Case, main

PAGES = ["README.md", "README.zh-CN.md", "docs/evaluation.md", "docs/command-line.md"]


def blocks(text):
    """(marker, content) of every marked block, in order."""
    return re.findall(r"<!-- (test|output) -->\n```\w*\n(.*?)```", text, re.S)


def matches(expected, line):
    return re.fullmatch(".*".join(map(re.escape, expected.rstrip().split("..."))), line.rstrip()) is not None


class Pages(Case):
    def setUp(self):
        super().setUp()
        for name in ["run", "cmake", "kb", "datasets", "docs"]:
            os.symlink(os.path.join(SOURCE, name), self.path(name))
        self.environment = {**os.environ, "ASKBASE_BINARY": BINARY, "NO_COLOR": "1"}
        self.environment.pop("DATA", None)

    def shell(self, script):
        return subprocess.run(["bash", "-euc", script], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=300)

    def compare(self, expected, found, page):
        lines = iter(found.splitlines())
        for wanted in expected.splitlines():
            if wanted.strip() in ("", "..."):
                continue
            if not any(matches(wanted, line) for line in lines):
                self.fail(f"{page}: {wanted!r} does not come out (in this place):\n{found}")

    def run_page(self, page, port):
        with open(os.path.join(SOURCE, page), encoding="utf-8") as source:
            marked = blocks(source.read())
        output = ""
        for marker, content in marked:
            if marker == "test":
                done = self.shell(content.replace("127.0.0.1:8080", f"127.0.0.1:{port}"))
                self.assertEqual(done.returncode, 0, f"{page}: {content}\n{done.stdout}\n{done.stderr}")
                output = done.stdout
            else:
                self.compare(content, output, page)
        return len(marked)

    def test_pages(self):
        server = subprocess.Popen(["./run", "--port", "0"], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        try:
            ready = re.search(r"http://127\.0\.0\.1:(\d+)/", server.stdout.readline())
            self.assertTrue(ready, "no ready line")
            counts = {page: self.run_page(page, ready.group(1)) for page in PAGES}
        finally:
            server.terminate()
            server.communicate(timeout=30)
        self.assertEqual(server.returncode, 0)
        print("blocks run or compared: " + ", ".join(f"{page} {count}" for page, count in counts.items()))
        self.assertGreaterEqual(counts["README.md"], 8)
        self.assertGreaterEqual(counts["README.zh-CN.md"], 8)

    def test_links_lead_somewhere(self):
        pages = [name for name in subprocess.run(["git", "ls-files", "*.md"], cwd=SOURCE, capture_output=True, text=True,
                                                 check=False).stdout.split()] or PAGES
        for page in pages:
            with open(os.path.join(SOURCE, page), encoding="utf-8") as source:
                text = re.sub(r"```.*?```", "", source.read(), flags=re.S)
            for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if not re.match(r"[a-z]+:", link):
                    target = os.path.join(SOURCE, os.path.dirname(page), link)
                    self.assertTrue(os.path.exists(target), f"{page}: {link}")

    def test_every_option_is_documented(self):
        with open(os.path.join(SOURCE, "docs/command-line.md"), encoding="utf-8") as source:
            page = source.read()
        with open(os.path.join(SOURCE, "docs/evaluation.md"), encoding="utf-8") as source:
            page += source.read()
        for command in ["", "load", "delete", "ask", "search", "show", "serve", "stats", "check", "backup", "restore", "upgrade",
                        "export", "embed", "embed export", "embed import", "train question-type", "model import", "model list",
                        "model info", "eval kbqa", "eval compare", "eval question-type", "eval link-prediction",
                        "eval simplequestions", "datasets prepare", "train memory"]:
            text = subprocess.run([BINARY, *command.split(), "--help"], capture_output=True, text=True, check=True).stdout
            for option in re.findall(r"(?m)^  (?:-h,)?(--[a-z-]+)", text):
                if option not in ("--help", "--version"):
                    self.assertIn(option, page, f"askbase {command}")


if __name__ == "__main__":
    main()
