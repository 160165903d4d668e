#!/usr/bin/env python3
"""Training the matcher of questions and relations, and measuring it, from the command line."""
import json
import os
import unittest

from support import SOURCE, Case, main

RELATIONS = ["/people/person/place_of_birth", "/people/person/profession", "/book/written_work/author",
             "/location/country/capital", "film.film.director..film.director.film"]
PATTERNS = [["where was * born", "what is the birthplace of *", "in which town was * born"],
            ["what did * do for a living", "what is the job of *", "what was * 's profession"],
            ["who wrote *", "who is the writer of *", "by whom was * written"],
            ["what is the capital of *", "name the capital city of *", "which city governs *"],
            ["what else did the maker of * film", "other films by the director of *", "more films like *"]]
NAMES = ["anna berg", "the long road", "lind", "mono"]
CHINESE = {"出生地": ["*出生在哪里", "请问*生于何地", "*是哪里人"], "作者": ["谁写了*", "*是谁写的", "请问*的作者是谁"],
           "面积": ["*有多大", "*的面积是多少", "你知道*占地多少吗"]}


def rows(name, relations, patterns, names):
    lines = []
    for relation, forms in zip(relations, patterns):
        for form in forms:
            for mention in names:
                lines.append(json.dumps({"id": f"{name}-{len(lines)}", "question": form.replace("*", mention), "topic": [mention],
                                         "topic_names": [mention], "path": [relation], "answers": ["x"]},
                                        ensure_ascii=False))
    return "\n".join(lines) + "\n"


class TrainMatcher(Case):
    def setUp(self):
        super().setUp()
        self.out = self.path("matcher")
        self.relations = self.file("relations.txt", "\n".join(RELATIONS) + "\n")
        pool = " ".join(str(i + 1) for i in range(len(RELATIONS)))
        self.pools = self.file("pools.tsv", "".join(
            f"{i + 1}\t{pool}\t$ARG1 {form.replace('*', '<e>')} $ARG2\n" for i, forms in enumerate(PATTERNS) for form in forms))

    def small(self, *more, lang="en", out=None):
        return ["train", "matcher", "--lang", lang, "--dimensions", "16", "--hidden", "12", "--buckets", "256", "--batch", "12",
                "--epochs", "15", "--rate", "0.01", "--out", out or self.out, *more]

    def english(self, *more, out=None):
        names = [relation.strip("/").replace("/", ".") for relation in RELATIONS[:4]]
        data = self.file("train.jsonl", rows("a", names, PATTERNS[:4], NAMES))
        facts = self.file("facts.tsv", "".join(f"{n}\t{r}\tx\n" for n in NAMES for r in names))
        return self.small("--data", data, "--facts", facts, "--pools", self.relations, self.pools, "--valid-every", "3", *more,
                          out=out)

    def text(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def weights(self, out):
        with open(os.path.join(out, "model.safetensors"), "rb") as file:
            return file.read()

    def test_pools(self):
        curves, page = self.path("curves.jsonl"), self.path("curves.html")
        left = self.file("left.jsonl", json.dumps({"id": "1", "question": "Where was anna berg born?"}) + "\n")
        result = self.json(*self.english("--leave-out", left, "--curves", curves, "--report", page))
        self.assertEqual(result["left_out"], 1)
        self.assertEqual(result["train"], 4 * 3 * 4 - 1 + 10 * 3)
        self.assertEqual(result["valid"], 5)
        self.assertGreaterEqual(result["valid_pools_accuracy"], 0.6)
        self.assertIn("<html", self.text(page))
        card = self.text(os.path.join(self.out, "README.md"))
        self.assertIn("askbase train matcher", card)
        self.assertNotIn(self.folder, card)

        pools = ["eval", "relation-detection", "--relations", self.relations, "--data", self.pools, "--model", self.out]
        predictions, candidates = self.path("out.jsonl"), self.path("candidates.jsonl")
        measured = self.json(*pools, "--count-pools", self.relations, self.pools, "--out", predictions,
                             "--dump-candidates", candidates)
        self.assertEqual(measured["questions"], 15)
        self.assertGreaterEqual(measured["accuracy"], 0.8)
        self.assertLess(measured["baseline_overlap"], measured["accuracy"])
        self.assertAlmostEqual(measured["baseline_majority"], 0.2)
        self.assertIn("baseline_naive_bayes", measured)
        self.assertEqual(len(measured["accuracy_ci"]), 2)
        lines = [json.loads(line) for line in self.text(predictions).splitlines()]
        right = sum(line["predicted"] in line["gold"] for line in lines)
        self.assertAlmostEqual(right / 15, measured["accuracy"], 6)
        dumped = [json.loads(line) for line in self.text(candidates).splitlines()]
        self.assertEqual([c["relation"] for c in dumped[0]["candidates"]], RELATIONS)

        ranked = self.json(*pools, "--encoder", os.path.join(SOURCE, "models", "en-sentence"), "--fit-pools", self.relations,
                           self.pools, "--fit-every", "2")
        self.assertEqual(set(ranked["ranker"]), {"matcher", "sentences", "overlap"})
        self.assertGreater(ranked["ranker"]["matcher"], 0)
        self.assertGreaterEqual(ranked["accuracy"], ranked["matcher_accuracy"] - 0.1)

        # Somebody else's scores: the last candidate is always the best.
        scores = self.file("scores.jsonl", "".join(json.dumps({"question": i, "scores": [0, 1, 2, 3, 4.5]}) + "\n" for i in range(15)))
        theirs = self.json(*pools, "--scores", scores)
        self.assertAlmostEqual(theirs["accuracy"], 0.2)
        self.assertAlmostEqual(theirs["matcher_accuracy"], measured["accuracy"])
        short = self.file("short.jsonl", json.dumps({"question": 0, "scores": [1]}) + "\n")
        self.assertIn("short.jsonl:1", self.refused(*pools, "--scores", short))

    def test_the_same_twice_and_after_an_interruption(self):
        again = self.path("again")
        self.json(*self.english("--threads", "1"))
        checkpoint = self.path("checkpoint")
        self.json(*self.english("--threads", "1", "--minutes", "0.003", "--checkpoint", checkpoint, out=again))
        self.json(*self.english("--threads", "1", "--checkpoint", checkpoint, "--resume", out=again))
        self.assertEqual(self.weights(self.out), self.weights(again))

    def test_chinese_among_all_predicates(self):
        data = self.file("train.jsonl", rows("a", CHINESE, CHINESE.values(), ["安娜", "长路", "林德港"]))
        result = self.json(*self.small("--data", data, "--hold-out", "4", "--among-all", "--mention-tail", "1", lang="zh"))
        self.assertGreater(result["valid"], 0)
        facts = self.file("facts.tsv", "\t作者\t不完整\n安娜\t出生地\t林德\n長路\t作者\t安娜\n林德港\t面積\t3\n林德港\t面 积\t3\n")
        test = self.file("test.jsonl", rows("t", ["出生地", "作者", "面积"], [["请问*出生在哪里"], ["*的作者是谁"], ["請問*的面積"]], ["小城"]) +
                         json.dumps({"id": "x", "question": "小城有几条河", "topic": ["小城"], "path": ["河流数"]}) + "\n")
        measured = self.json("eval", "relation-detection", "--lang", "zh", "--among", facts, "--data", test, "--model", self.out)
        # The last question's relation is none of the predicates, so it cannot be right.
        self.assertEqual(measured["questions"], 4)
        self.assertGreaterEqual(measured["accuracy"], 0.5)
        self.assertLessEqual(measured["accuracy"], 0.75)

    def test_aspects_of_the_answer(self):
        data = self.file("train.jsonl", rows("a", ["book.written_work.author", "location.country.capital"], [PATTERNS[2], PATTERNS[3]], NAMES))
        facts = self.file("facts.tsv", "".join(f"{n}\tbook.written_work.author\tw1\n{n}\tlocation.country.capital\tc1\n" for n in NAMES) +
                          "".join(f"{n}\tcommon.topic.notable_types\tt1\n{n}\tlocation.location.area\t7\n" for n in ["w1", "c1"]))
        names = self.file("names.tsv", "t1\ten\tharbour\tlabel\tx\n")
        self.json(*self.small("--data", data, "--facts", facts, "--names", names, "--hold-out", "4", "--aspects", "2"))
        words = self.text(os.path.join(self.out, "words.txt")).splitlines()
        self.assertTrue({"harbour", "area"} <= set(words), words)
        self.assertIn("--aspects 2", self.text(os.path.join(self.out, "README.md")))

    def test_refusals(self):
        for status, arguments, words in [
            (2, self.small(), "nothing to learn from"),
            (1, self.small("--data", self.file("no.jsonl", "")), "no questions"),
            (2, self.small("--pools", self.relations), "two files"),
            (2, self.english("--resume"), "--checkpoint"),
            (2, self.english("--report", self.path("x.html")), "--curves"),
            (2, self.english("--attention", "score=telepathy"), "score"),
            (2, ["eval", "relation-detection", "--data", self.pools], "--relations"),
            (2, ["eval", "relation-detection", "--data", self.pools, "--relations", self.relations, "--encoder", self.out], "--fit-pools"),
            (1, ["eval", "relation-detection", "--data", self.pools, "--relations", self.relations, "--model", self.path("none")], "none"),
        ]:
            with self.subTest(arguments=arguments[-3:]):
                self.assertIn(words, self.refused(*arguments, status=status))


if __name__ == "__main__":
    main()
