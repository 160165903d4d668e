#!/usr/bin/env python3
"""Benchmark files prepared, loaded and measured with; a small memory network trained on them."""
import json
import os
import unittest

from support import SOURCE, Case, main

PEOPLE = 40
PATTERNS = {"people.person.place_of_birth": ["where was {} born", "what is the birth place of {}"],
            "people.person.profession": ["what does {} do for a living", "what is the job of {}"],
            "people.person.spouse_s": ["who is {} married to", "who is the husband of {}"]}


class Datasets(Case):
    def benchmark(self):
        """A small world in the form of SimpleQuestions."""
        facts, names, questions = [], [], []
        for i in range(PEOPLE):
            names.append(f"m.0p{i}\ten\tPerson {'ABCDEFGH'[i % 8]}{'klmno'[i // 8]}x\tlabel\tdg")
        for kind, word in (("c", "Town"), ("j", "Craft"), ("s", "Mate")):
            for i in range(8):
                names.append(f"m.0{kind}{i}\ten\t{word} {'abcdefgh'[i]}q\tlabel\tdg")
        names.append("m.0p0\ten\tsecret name\tmention\tbubo-test")
        for i in range(PEOPLE):
            name = f"person {'abcdefgh'[i % 8]}{'klmno'[i // 8]}x"
            for (relation, patterns), kind in zip(PATTERNS.items(), "cjs"):
                answer = f"m.0{kind}{i % 8}"
                facts.append(f"m.0p{i}\t{relation}\t{answer}")
                for n, pattern in enumerate(patterns):
                    split = "test" if i % 5 == 0 else "valid" if i % 5 == 1 else "train"
                    questions.append(json.dumps({"id": f"{i}-{relation}-{n}", "split": split, "lang": "en",
                                                 "question": pattern.format(name), "topic": [f"m.0p{i}"],
                                                 "mention": name, "path": [relation], "answers": [answer]}))
        return [self.file("kb.tsv", "\n".join(facts) + "\n"), self.file("names.tsv", "\n".join(names) + "\n"),
                self.file("q.jsonl", "\n".join(questions) + "\n")]

    def prepared(self):
        files = self.benchmark()
        report = self.json("datasets", "prepare", "simplequestions-fb", *files, "--out", self.path("sq"))
        self.askbase("load", self.path("sq/facts.nt"), self.path("sq/names.nt"), "--source", "sq")
        return report

    def test_prepared_files_load_and_answer(self):
        report = self.prepared()
        self.assertEqual(report["facts"], 3 * PEOPLE)
        self.assertEqual(report["names_left_out"], 1)
        self.assertEqual(report["questions"], 6 * PEOPLE)
        self.assertIn("Town aq", self.askbase("ask", "What is the place of birth of Person Akx?").stdout)
        self.assertIn("Nothing is called", self.askbase("search", "secret name").stdout)

    def test_measures_stages_with_the_baseline_beside(self):
        self.prepared()
        figures = json.loads(self.askbase("eval", "simplequestions", "--data", self.path("sq/questions.jsonl"), "--split", "test",
                                      "--models", os.path.join(SOURCE, "models"), "--out", self.path("out.jsonl"),
                                      "--json").stdout)
        self.assertEqual(figures["questions"], 48)
        self.assertEqual(figures["entity_recall_at_50"], 1)
        self.assertEqual(figures["baseline_subject_relation"], 1)
        self.assertGreater(figures["subject_relation"], 0.3)
        self.assertGreaterEqual(figures["object"], figures["subject_relation"])
        self.assertEqual(len(figures["object_ci"]), 2)
        self.assertGreater(figures["relation"], 0.5)  # by the matcher that ships
        os.makedirs(self.path("none"))
        without = json.loads(self.askbase("eval", "simplequestions", "--data", self.path("sq/questions.jsonl"), "--split", "test",
                                          "--models", self.path("none"), "--json").stdout)
        self.assertIsNone(without["relation"])
        lost = round(48 * (1 - figures["subject_relation"]))
        self.assertEqual(sum(figures["errors_by_stage"].values()), lost)
        with open(self.path("out.jsonl"), encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        self.assertEqual(sum(row["subject_relation"] for row in rows), 48 - lost)
        self.assertEqual(sum("lost_at" in row for row in rows), lost)
        text = self.askbase("eval", "simplequestions", "--data", self.path("sq/questions.jsonl"), "--split", "valid", "--errors").stdout
        self.assertIn("mention_exact", text)

    def test_trains_a_memory_that_evaluation_uses(self):
        self.prepared()
        os.makedirs(self.path("models"))
        command = ["train", "memory", "--data", f"{self.kb}:{self.path('sq/questions.jsonl')}", "--dimensions", "16",
                   "--buckets", "256", "--epochs", "40", "--rate", "0.02", "--negatives", "4", "--measure-test",
                   "--checkpoint", self.path("checkpoint"), "--out", self.path("models/en-memory"), "--json"]
        figures = json.loads(self.askbase(*command).stdout)
        self.assertEqual(figures["train"], 144)
        self.assertGreater(figures["valid_subject_relation"], 0.9)
        self.assertGreater(figures["test_subject_relation"], 0.9)
        with open(self.path("models/en-memory/README.md"), encoding="utf-8") as card:
            text = card.read()
        self.assertIn("sha256", text)
        self.assertIn("--dimensions 16", text)
        # A run that ended goes on to nothing, and writes the same.
        again = json.loads(self.askbase(*command, "--resume").stdout)
        self.assertEqual(again["valid_subject_relation"], figures["valid_subject_relation"])
        measured = json.loads(self.askbase("eval", "simplequestions", "--data", self.path("sq/questions.jsonl"), "--split", "test",
                                       "--models", self.path("models"), "--json").stdout)
        self.assertGreater(measured["memory_subject_relation"], 0.9)
        self.assertGreater(measured["memory_relation"], 0.9)
        # A broken folder is an error, not a worse figure.
        with open(self.path("models/en-memory/config.json"), "w", encoding="utf-8") as config:
            config.write("{}")
        self.refused("eval", "simplequestions", "--data", self.path("sq/questions.jsonl"), "--models", self.path("models"))

    def test_refuses_what_it_cannot_use(self):
        self.assertIn("simplequestions-wd", self.refused("datasets", "prepare", "nonsense", self.file("a.tsv", "a\tb\tc\n"),
                                                         "--out", self.path("o"), status=2))
        self.assertIn("b.tsv:2: not three fields",
                      self.refused("datasets", "prepare", "triples", self.file("b.tsv", "a\tb\tc\na\tb\n"), "--out", self.path("o")))
        self.refused("datasets", "prepare", "triples", self.path("missing"), "--out", self.path("o"))
        self.refused("datasets", "prepare", "triples", "--out", self.path("o"), status=2)
        self.prepared()
        self.refused("eval", "simplequestions", "--data", self.path("sq/questions.jsonl"), "--split", "none")
        self.refused("eval", "simplequestions", "--data", self.file("bad.jsonl", "{}\n"))
        self.refused("train", "memory", "--data", "nonsense", "--out", self.path("m"), status=2)
        self.refused("train", "memory", "--data", f"{self.kb}:{self.path('sq/questions.jsonl')}", "--lang", "zh", "--out", self.path("m"))
        self.refused("train", "memory", "--data", f"{self.kb}:{self.path('sq/questions.jsonl')}", "--resume", "--out", self.path("m"),
                     status=2)


if __name__ == "__main__":
    main()
