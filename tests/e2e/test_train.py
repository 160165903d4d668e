#!/usr/bin/env python3
"""Training a model from the command line: question types, from labelled questions and word vectors."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from support import BINARY, Case, main

PEOPLE, PLACES = ["writer", "king", "painter", "singer"], ["city", "river", "country", "island"]


def questions(count, seed):
    """Labelled questions in the official form, told apart by more than their first word."""
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        person, place = draw.choice(PEOPLE), draw.choice(PLACES)
        lines.append(draw.choice([f"HUM:ind What {person} lived in the {place} ?",
                                  f"LOC:city What {place} did the {person} like ?",
                                  f"NUM:date When did the {person} see the {place} ?"]))
    return "\n".join(lines) + "\n"


def vectors():
    """GloVe's text form."""
    draw = random.Random(7)
    words = ["what", "when", "did", "the", "in", "see", "like", "lived", "?", *PEOPLE, *PLACES, "unused"]
    return "\n".join(f"{w} " + " ".join(f"{draw.gauss(0, 1):.4f}" for _ in range(16)) for w in words) + "\n"


class Train(Case):
    def setUp(self):
        super().setUp()
        self.data = self.file("train.label", questions(400, 1))
        self.test = self.file("test.label", questions(80, 2))
        self.vectors = self.file("vectors.txt", vectors())
        self.out = self.path("models/question-type")

    def arguments(self, *more, out=None):
        return ["train", "question-type", "--data", self.data, "--vectors", self.vectors, "--out", out or self.out,
                "--hidden", "16", *more]

    def weights(self, out=None):
        with open(os.path.join(out or self.out, "model.safetensors"), "rb") as file:
            return file.read()

    def test_a_model_is_trained_measured_and_used(self):
        curves, page = self.path("curves.jsonl"), self.path("curves.html")
        result = self.json(*self.arguments("--epochs", "8", "--test", self.test, "--curves", curves, "--report", page))
        self.assertGreater(result["accuracy"], 0.95)
        self.assertGreater(result["fine_accuracy"], 0.9)
        self.assertEqual(result["questions"], 80)
        low, high = result["accuracy_ci"]
        self.assertTrue(low <= result["accuracy"] <= high)
        self.assertIsNotNone(result["baseline_accuracy"])
        with open(os.path.join(self.out, "README.md"), encoding="utf-8") as card:
            text = card.read()
        self.assertIn("askbase train question-type", text)
        self.assertIn(f"{result['accuracy']:.4f}", text)
        with open(curves, encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        self.assertEqual([r["epoch"] for r in records if "accuracy" in r][0], 1.0)
        with open(page, encoding="utf-8") as html:
            self.assertIn("<svg", html.read())

        # The same words give the same model; eval measures the same on it.
        again = self.path("again")
        self.askbase(*self.arguments("--epochs", "8", out=again))
        self.assertEqual(self.weights(), self.weights(again))
        measured = self.json("eval", "question-type", "--data", self.test, "--model", self.out)
        self.assertEqual(measured["accuracy"], result["accuracy"])

        # ask uses it, says so, and works without.
        self.load_cities()
        models = self.path("models")
        response = self.ask("What city is the capital of Freedonia?", "--models", models, "--explain")
        self.assertEqual(response["models"], ["question-type"])
        self.assertEqual(response["answers"][0]["answer"], "Fredville")
        self.assertIn("attention", json.dumps(response["trace"]["analysis"]["type"]))
        os.mkdir(self.path("empty"))
        response = self.ask("What city is the capital of Freedonia?", "--models", self.path("empty"))
        self.assertEqual((response["models"], response["answers"][0]["answer"]), ([], "Fredville"))
        self.assertEqual(self.answer("弗里多尼亚的首都是哪里？", "--models", models), "弗雷德维尔")

    def test_interrupted_and_resumed_it_gives_the_same_model(self):
        whole = self.path("whole")
        self.askbase(*self.arguments("--epochs", "60", out=whole))
        checkpoint = self.path("checkpoint")
        command = [BINARY, *self.arguments("--epochs", "60", "--checkpoint", checkpoint, "--curves", self.path("c"))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.time() + 60
        while not (os.path.exists(self.path("c")) and os.path.getsize(self.path("c")) > 200) and time.time() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertTrue(os.path.exists(checkpoint))
        self.assertFalse(os.path.exists(self.out))
        self.askbase(*command[1:], "--resume")
        self.assertEqual(self.weights(), self.weights(whole))

    def test_wrong_input_is_refused_with_words(self):
        self.refused(*self.arguments()[:-6], status=2)
        self.assertIn("train.label:3", self.refused(
            "train", "question-type", "--vectors", self.vectors, "--out", self.out,
            "--data", self.file("train.label", "HUM:ind Who ?\nLOC:city Where ?\nno label\n")))
        self.file("train.label", questions(50, 1))
        self.file("vectors.txt", "a 1 2\nb 1\n")
        self.assertIn("vectors.txt:2", self.refused(*self.arguments()))
        self.file("vectors.txt", vectors())
        self.assertIn("--checkpoint", self.refused(*self.arguments("--resume"), status=2))
        self.assertIn("--curves", self.refused(*self.arguments("--report", self.path("r.html")), status=2))
        # Somebody's folder is not replaced by a model.
        os.mkdir(self.path("precious"))
        self.file("precious/thesis.txt", "years of work")
        self.refused(*self.arguments("--epochs", "1", out=self.path("precious")), status=None)
        with open(self.path("precious/thesis.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "years of work")
        self.load_cities()
        self.refused("ask", "Who?", "--models", self.path("nowhere"), status=2)
        os.makedirs(self.path("broken/question-type"))
        self.file("broken/question-type/config.json", "{")
        self.assertIn("config.json", self.refused("ask", "Who?", "--models", self.path("broken")))


if __name__ == "__main__":
    main()
