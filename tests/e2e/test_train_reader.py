#!/usr/bin/env python3
"""A reader from the command line: trained, interrupted, made small, measured; over a small BERT and a toy language."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from bert_folder import write_bert_folder
from support import Case, main

PEOPLE, PLACES = ["anna", "ben", "carl", "dora"], ["rome", "paris", "bonn", "oslo"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *PEOPLE, *PLACES, "lives", "in", "where", "who", "does", "live", "?", "."]


def squad(seed, titles):
    """Who lives, and where; some texts do not say where."""
    draw = random.Random(seed)
    data = []
    for title, count in titles.items():
        paragraphs = []
        for i in range(count):
            who, where, placed = draw.choice(PEOPLE), draw.choice(PLACES), draw.random() < 0.7
            context = f"{'. ' * (i % 7)}{who} lives {f'in {where} .' if placed else '.'} {'. ' * (i // 7)}{seed}"
            asked = [("who lives ?", who), (f"where does {who} live ?", where if placed else None)]
            qas = []
            for k, (question, answer) in enumerate(asked):
                qa = {"id": f"{seed}-{title}-{i}-{k}", "question": question, "answers": [], "is_impossible": answer is None}
                if answer:
                    qa["answers"].append({"text": answer, "answer_start": context.index(answer)})
                qas.append(qa)
            paragraphs.append({"context": context, "qas": qas})
        data.append({"title": title, "paragraphs": paragraphs})
    return json.dumps({"data": data})


class TrainReader(Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("models"))
        self.hugging_face = write_bert_folder(self, "hf", PIECES, hidden=24, layers=2, inner=48, positions=160, head=False)
        # Questions of the toy language repeat: what is held out is told apart by its texts alone.
        self.data = self.file("train.json", squad(1, {"One": 150}))
        self.valid = self.file("valid.json", squad(2, {"Two": 30}))
        self.trained = self.path("trained")

    def arguments(self, *more, out=None, length="128"):
        return ["train", "reader", "--encoder", self.hugging_face, "--data", self.data, "--out", out or self.trained, "--batch", "16",
                "--rate", "0.004", "--ema", "0.9", "--max-length", length, "--precision", "f32", "--threads", "1", *more]

    def weights(self, folder):
        with open(os.path.join(folder, "model.safetensors"), "rb") as file:
            return file.read()

    def test_from_training_to_answers(self):
        curves, page = self.path("curves.jsonl"), self.path("curves.html")
        result = self.json(*self.arguments("--epochs", "8", "--curves", curves, "--report", page))
        self.assertEqual((result["train"], result["left_out"], result["finished"]), (300, 0, True))
        with open(page, encoding="utf-8") as file:
            self.assertIn("loss", file.read())
        self.json("model", "import", self.hugging_face, "--out", self.path("models/en-sentence"), "--storage", "int8")
        small = self.path("models/en-reader")
        made = self.json("model", "compress", self.trained, "--shares", self.path("models/en-sentence"), "--data", self.valid, "--max-length",
                         "128", "--out", small)
        self.assertGreater(made["f1"], 90)
        self.assertGreater(made["squad2_f1"], 90)
        self.assertEqual(self.json("model", "info", small)["kind"], "span-reader")
        models = ["--models", self.path("models")]
        one = self.json(*models, "eval", "squad", "--data", self.valid, "--out", self.path("p.json"))
        self.assertAlmostEqual(one["f1"], made["f1"], places=3)
        low, high = one["f1_ci"]
        self.assertTrue(low <= one["f1"] <= high)
        two = self.json(*models, "eval", "squad2", "--data", self.valid, "--out", self.path("p2.json"), "--odds-out", self.path("odds.json"))
        self.assertAlmostEqual(two["f1"], made["squad2_f1"], places=3)
        self.assertAlmostEqual(two["threshold"], made["threshold"], places=4)
        self.assertEqual(two["has_answer"] + two["no_answer"], two["questions"])
        # What was written scores the same as predictions of others.
        again = self.json("eval", "squad", "--data", self.valid, "--predictions", self.path("p.json"))
        self.assertEqual((again["exact_match"], again["f1"]), (one["exact_match"], one["f1"]))
        again = self.json("eval", "squad2", "--data", self.valid, "--predictions", self.path("p2.json"), "--odds", self.path("odds.json"),
                          "--threshold", "1e9")
        self.assertEqual(again["f1"], two["f1"])
        f32 = self.json("eval", "squad", "--data", self.valid, "--model", self.trained, "--numbers", "f32")
        self.assertGreater(f32["f1"], 90)

    def test_held_out_articles_are_no_part_of_the_training(self):
        both = self.file("both.json", squad(3, {"One": 20, "Two": 5}))
        result = self.json(*self.arguments("--data", both, "--hold-out", "Two", "--epochs", "1"))
        self.assertEqual(result["valid"], 10)
        self.assertIn("valid_best_f1", result)
        # Every question of the toy language is asked in both.
        self.assertGreater(result["overlapping"], 0)
        self.assertIn("Three", self.refused(*self.arguments("--hold-out", "Three")))

    def test_interrupted_and_resumed(self):
        whole = self.path("whole")
        self.json(*self.arguments("--epochs", "3", out=whole))
        checkpoint = self.path("checkpoint")
        part = self.json(*self.arguments("--epochs", "3", "--minutes", "0.000001", "--checkpoint", checkpoint))
        self.assertFalse(part["finished"])
        process = subprocess.Popen(self.command(*self.arguments("--epochs", "3", "--checkpoint", checkpoint, "--resume")),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(60), (0, 130))
        result = self.json(*self.arguments("--epochs", "3", "--checkpoint", checkpoint, "--resume"))
        self.assertTrue(result["finished"])
        self.assertEqual(self.weights(self.trained), self.weights(whole))

    def test_what_cannot_be(self):
        self.assertIn("--checkpoint", self.refused(*self.arguments("--resume"), status=2))
        self.assertIn("--curves", self.refused(*self.arguments("--report", "x.html"), status=2))
        broken = self.file("broken.json", '{"data": [{"title": "T", "paragraphs": [{"context": "a", "qas": [{"id": "7", "question": "?", '
                                          '"answers": [{"text": "b", "answer_start": 0}]}]}]}]}')
        self.assertIn("question 7", self.refused(*self.arguments("--data", broken)))
        self.assertIn("200 ids", self.refused(*self.arguments(length="200"), status=2))
        self.assertIn("span head", self.refused("eval", "squad", "--data", self.valid, "--model", self.encoder()))
        self.assertIn("no prediction", self.refused("eval", "squad", "--data", self.valid, "--predictions", self.file("x.json", "{}")))
        self.assertIn("not a number", self.refused("eval", "squad2", "--data", self.valid, "--threshold", "high", status=2))
        self.assertFalse(os.path.exists(self.trained))

    def encoder(self):
        self.askbase("model", "import", self.hugging_face, "--out", self.path("models/bare"))
        return self.path("models/bare")


if __name__ == "__main__":
    main()
