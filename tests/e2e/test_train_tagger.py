#!/usr/bin/env python3
"""Training and measuring the tagger of mentions from the command line."""
import json
import os
import random
import unittest

from support import Case, main

ENGLISH = {"anna berg": "m1", "the long road": "m2", "port of lind": "m3", "mono": "m4", "harbour lights 2": "m5"}
CHINESE = ["安娜山", "长路", "林德港", "小城故事", "圣凯尔大学"]


def rows(name, patterns, names, count, seed, topics=None, stated=True):
    """Questions in the form of the benchmark files, as JSON lines."""
    draw = random.Random(seed)
    lines = []
    for i in range(count):
        mention = draw.choice(list(names))
        row = {"id": f"{name}-{i}", "question": draw.choice(patterns).replace("*", mention) + "?" * (i % 2),
               "topic": [topics[mention] if topics else mention + "（歌曲）"], "path": None, "answers": None}
        if stated:
            row["mention"] = mention
        lines.append(json.dumps(row, ensure_ascii=False))
    return "\n".join(lines) + "\n"


ENGLISH_PATTERNS = ["who wrote *", "what is the genre of *", "where was * born", "is * a film", "name the maker of *",
                    "when was * made", "which country is * from", "what is * known for"]
CHINESE_PATTERNS = ["*的作者是谁", "请问*在哪里", "谁知道*是什么时候建成的呀", "*属于什么类型", "你知道*有多大吗"]


class TrainTagger(Case):
    def setUp(self):
        super().setUp()
        self.out = self.path("tagger")
        self.vectors = self.file("vectors.txt", "\n".join(
            f"{word} " + " ".join(f"{(i * 7 + k * 3) % 11 / 10 - 0.5:.2f}" for k in range(8))
            for i, word in enumerate(["who", "wrote", "what", "is", "the", "genre", "of", "where", "was"])) + "\n")

    def english(self, *more, out=None):
        return ["train", "tagger", "--data", self.file("train.jsonl", rows("a", ENGLISH_PATTERNS, ENGLISH, 120, 1, ENGLISH)),
                "--valid-share", "0.2", "--vectors", self.vectors, "--hidden", "16", "--epochs", "6",
                "--out", out or self.out, *more]

    def weights(self, out):
        with open(os.path.join(out, "model.safetensors"), "rb") as file:
            return file.read()

    def test_english_by_mentions_and_by_names(self):
        # The second file states no mentions; one topic's name stands nowhere, one question comes in the test.
        named = rows("b", ["is it * that * made"], ENGLISH, 6, 3, ENGLISH, stated=False)
        named += json.dumps({"id": "b-x", "question": "who is unheard of", "topic": ["m9"], "path": None}) + "\n"
        names = self.file("names.tsv", "".join(f"{i}\ten\t{n}\tlabel\twd\n" for n, i in ENGLISH.items()) +
                          "m1\ten\twho wrote anna berg\tmention\tbubo-test\n")
        test = self.file("test.jsonl", rows("t", ENGLISH_PATTERNS, ENGLISH, 20, 9, ENGLISH))
        curves, page = self.path("curves.jsonl"), self.path("curves.html")
        arguments = self.english("--names", names, "--test", test, "--curves", curves, "--report", page)
        arguments.insert(4, self.file("named.jsonl", named))
        result = self.json(*arguments)
        self.assertEqual(result["not_found"], 1)
        self.assertGreater(result["aligned_by_name"], 0)
        self.assertGreater(result["repeated"], 0)
        self.assertEqual(result["questions"], 20)
        low, high = result["mention_exact_ci"]
        self.assertTrue(low <= result["mention_exact"] <= high)
        # The longest name; the one from the test questions is not among the names.
        self.assertEqual(result["baseline_mention_exact"], 1.0)
        with open(os.path.join(self.out, "README.md"), encoding="utf-8") as card:
            text = card.read()
        self.assertIn("askbase train tagger --lang en", text)
        self.assertIn(f"{result['mention_exact']:.4f}", text)
        with open(page, encoding="utf-8") as html:
            self.assertIn("<svg", html.read())
        measured = self.json("eval", "mentions", "--data", test, "--names", names, "--model", self.out)
        self.assertEqual(measured["mention_exact"], result["mention_exact"])
        self.assertEqual(measured["lang"], "en")

    def test_chinese_by_topics_and_again_from_its_checkpoint(self):
        data = self.file("zh.jsonl", rows("z", CHINESE_PATTERNS, CHINESE, 120, 2, stated=False))
        facts = self.file("facts.tsv", "".join(f"{name}\t作者\t某人\n" for name in CHINESE))
        arguments = ["train", "tagger", "--lang", "zh", "--data", data, "--valid-share", "0.1", "--pairs", "100",
                     "--hidden", "16", "--epochs", "4", "--checkpoint", self.path("checkpoint"), "--out"]
        result = self.json(*arguments, self.out)
        self.assertGreater(result["aligned_by_name"], 0)
        again = self.path("again")
        self.json(*arguments, again, "--resume")
        self.assertEqual(self.weights(self.out), self.weights(again))
        measured = self.json("eval", "mentions", "--lang", "zh", "--data", data, "--subjects", facts, "--model", self.out)
        self.assertEqual(measured["baseline_mention_exact"], 1.0)

    def test_wrong_input_is_refused_with_words(self):
        data = self.file("train.jsonl", "{\"id\": 1}\n")
        self.assertIn("train.jsonl:1", self.refused("train", "tagger", "--data", data, "--valid-share", "0.1",
                                                    "--out", self.out))
        self.assertIn("--valid", self.refused("train", "tagger", "--data", data, "--out", self.out, status=2))
        self.assertIn("--checkpoint", self.refused(*self.english("--resume"), status=2))
        self.assertIn("--curves", self.refused(*self.english("--report", self.path("r.html")), status=2))
        self.refused("train", "tagger", "--data", data, "--lang", "fr", "--out", self.out, status=2)
        self.refused("eval", "mentions", "--data", data, "--model", self.path("nowhere"))


if __name__ == "__main__":
    main()
