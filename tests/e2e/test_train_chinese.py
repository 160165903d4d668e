#!/usr/bin/env python3
"""Training the reader for Chinese from the command line, over a made-up LAC folder and a handful of texts."""
import array
import json
import os
import random
import struct
import sys
import unittest

from support import Case, main

PEOPLE, PLACES = "甲乙丙丁", ["北京", "上海", "廣州", "東海"]


def squad(seed, count):
    """Texts that say where three people are, in SQuAD's form."""
    draw = random.Random(seed)
    paragraphs = []
    for i in range(count):
        who, where = draw.sample(PEOPLE, 3), draw.sample(PLACES, 3)
        context = f"第{seed}卷{i}。" + "".join(f"{a}在{b}。" for a, b in zip(who, where))
        qas = [{"id": f"{seed}-{i}-{k}", "question": f"第{seed}卷{i}说{a}在哪里？",
                "answers": [{"text": b, "answer_start": context.index(a) + 2}]} for k, (a, b) in enumerate(zip(who, where))]
        paragraphs.append({"context": context, "qas": qas})
    return json.dumps({"data": [{"title": f"t{seed}", "paragraphs": paragraphs}]}, ensure_ascii=False)


def tensor(draw, *shape):
    """As PaddlePaddle 1.x writes it."""
    description = b"\x08\x05"
    count = 1
    for n in shape:
        description += b"\x10" + (bytes([n]) if n < 128 else bytes([n & 127 | 128, n >> 7]))
        count *= n
    values = array.array("f", (draw.uniform(-0.2, 0.2) for _ in range(count)))
    if sys.byteorder == "big":
        values.byteswap()
    return bytes(16) + struct.pack("<i", len(description)) + description + values.tobytes()


class TrainChinese(Case):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        os.makedirs(self.path("lac/model_baseline"))
        characters = sorted(set("甲乙丙丁在北京上海广州东哪里说第卷。？0123456789")) + ["OOV"]
        self.file("lac/word.dic", "".join(f"{i}\t{c}\n" for i, c in enumerate(characters)))
        self.file("lac/tag.dic", "0\tn-B\n1\tn-I\n2\tO\n")
        shapes = {"word_emb": (len(characters), 128), "fc_4.w_0": (256, 3), "fc_4.b_0": (3,), "crfw": (5, 3)}
        for i in range(4):
            shapes |= {f"fc_{i}.w_0": (128 if i < 2 else 256, 384), f"fc_{i}.b_0": (384,), f"gru_{i}.w_0": (128, 384),
                       f"gru_{i}.b_0": (1, 384)}
        for name, shape in shapes.items():
            self.file(f"lac/model_baseline/{name}", tensor(draw, *shape))
        self.train, self.valid, self.test = (self.file(f"{seed}.json", squad(seed, n)) for seed, n in ((1, 30), (2, 5), (3, 5)))
        self.out = self.path("models/zh")

    def arguments(self, *more, out=None):
        return ["train", "reader", "--kind", "bilstm", "--encoder", self.path("lac"), "--data", self.train, "--valid", self.valid,
                "--hidden", "8", "--out", out or self.out, "--threads", "1", *more]

    def test_a_reader_is_trained_measured_and_read_with(self):
        result = self.json(*self.arguments("--epochs", "3", "--test", self.test))
        self.assertEqual((result["train"], result["valid"], result["finished"]), (90, 15, True))
        low, high = result["3_f1_ci"]
        self.assertTrue(low <= result["3_f1"] <= high)
        self.assertIsNotNone(result["3_sentence_f1"])
        self.assertIsNotNone(result["3_clause_exact_match"])
        with open(os.path.join(self.out, "README.md"), encoding="utf-8") as card:
            text = card.read()
        self.assertIn("askbase train reader --kind bilstm", text)
        self.assertIn(f"{result['3_f1']:.2f}", text)
        self.assertIn("CC BY-SA 4.0", text)
        # eval measures the same on what was written.
        again = self.json("eval", "squad", "--model", self.out, "--form", "cmrc", "--data", self.test)
        self.assertAlmostEqual(again["f1"], result["3_f1"], places=6)
        self.assertAlmostEqual(again["exact_match"], result["3_exact_match"], places=6)
        # A training goes on from it, and questions of the set to measure on are no part of a training.
        more = self.json("train", "reader", "--kind", "bilstm", "--encoder", self.out, "--data", self.train, self.test, "--test",
                         self.test, "--out", self.path("again"), "--threads", "1")
        self.assertEqual((more["train"], more["overlapping"]), (90, 15))

    def test_an_interrupted_training_goes_on(self):
        checkpoint = self.path("zh.ckpt")
        whole = self.json(*self.arguments("--epochs", "2", out=self.path("whole")))
        first = self.json(*self.arguments("--epochs", "2", "--checkpoint", checkpoint, "--minutes", "0.00001"))
        self.assertFalse(first["finished"])
        second = self.json(*self.arguments("--epochs", "2", "--checkpoint", checkpoint, "--resume"))
        self.assertEqual((second["steps"], second["finished"]), (whole["steps"], True))
        for name in ("model.safetensors", "config.json"):
            with open(os.path.join(self.out, name), "rb") as a, open(self.path("whole/" + name), "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_wrong_input_is_refused(self):
        self.refused(*self.arguments("--hold-out", "t1"), status=2)
        self.refused(*self.arguments("--resume"), status=2)
        self.file("lac/model_baseline/crfw", b"x")
        self.assertIn("crfw", self.refused(*self.arguments()))
        os.remove(self.path("lac/tag.dic"))
        self.assertIn("tag.dic", self.refused(*self.arguments()))
        self.refused("train", "reader", "--encoder", self.out, "--data", self.train, "--out", self.out)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    main()
