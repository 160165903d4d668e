#!/usr/bin/env python3
"""Training an encoder on plain texts from the command line, with a vocabulary of a few words."""
import json
import random

from support import Case, main

WORDS = ["anna", "ben", "rome", "oslo", "lives", "in", "sings", "."]


def texts(count):
    draw = random.Random(3)
    documents = []
    for _ in range(count):
        name, place = draw.choice([("Anna", "Rome"), ("Ben", "Oslo")])
        documents.append(" ".join(f"{name} {draw.choice(['lives', 'sings'])} in {place}." for _ in range(6)))
    return documents


class TrainEncoder(Case):
    def test_an_encoder_from_scratch_and_on_from_it(self):
        vocabulary = self.file("vocab.txt", "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]) + "\n")
        documents = texts(40)
        data = self.file("texts.txt", "\n\n".join(documents) + "\n")
        lines = self.file("texts.jsonl", "".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(documents)))
        out, curves = self.path("encoder"), self.path("curves.jsonl")
        sizes = ["--vocab", vocabulary, "--layers", "1", "--hidden", "16", "--heads", "2", "--max-length", "24"]
        result = self.json("train", "encoder", *sizes, "--data", data, "--out", out, "--epochs", "3", "--rate", "0.005",
                           "--curves", curves, "--report", self.path("curves.html"))
        self.assertEqual((result["documents"], result["valid_documents"]), (38, 2))
        self.assertGreater(result["valid_masked_accuracy"], 0.1)
        self.assertIn("valid_next_accuracy", result)
        with open(out + "/README.md", encoding="utf-8") as card:
            self.assertIn("masked_accuracy", card.read())
        self.json("model", "info", out)

        # On from the folder just written, by documents of JSON lines.
        more = self.json("train", "encoder", "--encoder", out, "--data", lines, "--out", self.path("more"), "--whole-words",
                         "--max-length", "24", "--hold-out", "0")
        self.assertEqual((more["documents"], more["valid_pairs"]), (40, 0))

        self.assertIn("--vocab", self.refused("train", "encoder", "--data", data, "--out", self.path("x"), status=2))
        empty = self.file("empty.txt", " \n\n")
        self.assertIn("empty.txt", self.refused("train", "encoder", *sizes, "--data", empty, "--out", self.path("x")))
        one = self.file("one.txt", "Anna lives in Rome.\n")
        self.assertIn("documents", self.refused("train", "encoder", *sizes, "--data", one, "--out", self.path("x")))
        self.assertIn("positions", self.refused("train", "encoder", *sizes[:-2], "--max-length", "513", "--data", data,
                                                "--out", self.path("x"), status=2))


if __name__ == "__main__":
    main()
