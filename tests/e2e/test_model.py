#!/usr/bin/env python3
"""Models from the command line: a folder of Hugging Face taken over, listed and shown."""
import os
import unittest

from bert_folder import write_bert_folder
from support import Case, main

HIDDEN = 4
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##c"]


class Model(Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("models"))
        self.out = self.path("models/tiny")
        write_bert_folder(self, "hf", PIECES, hidden=HIDDEN)

    def test_imported_listed_and_shown(self):
        result = self.json("model", "import", self.path("hf"), "--out", self.out)
        self.assertEqual(result["kind"], "bert-encoder")
        self.assertEqual(result["casing"], "uncased")
        self.assertTrue(result["span_head"])
        self.assertEqual(result["left_out"], ["bert.pooler.dense.weight"])
        self.assertEqual(list(result["storage"]), ["F16"])
        models = self.json("--models", self.path("models"), "model", "list")
        self.assertEqual([m["name"] for m in models], ["tiny"])
        info = self.json("--models", self.path("models"), "model", "info", "tiny")
        self.assertEqual(info["config"]["hidden_size"], HIDDEN)
        self.assertEqual(info["weights"], result["weights"])
        self.assertEqual(self.json("model", "info", self.out)["name"], "tiny")
        result = self.json("model", "import", self.path("hf"), "--out", self.out, "--storage", "int8")
        self.assertIn("I8", result["storage"])
        self.json("model", "import", self.path("hf"), "--out", "here", cwd=self.folder)  # a name alone
        self.assertTrue(os.path.exists(self.path("here/model.safetensors")))

    def test_what_cannot_be_taken_over(self):
        os.rename(self.path("hf/model.safetensors"), self.path("weights"))
        self.file("hf/pytorch_model.bin", "x")
        self.assertIn("safe_serialization", self.refused("model", "import", self.path("hf"), "--out", self.out, status=1))
        os.rename(self.path("weights"), self.path("hf/model.safetensors"))
        self.assertIn("cased", self.refused("model", "import", self.path("hf"), "--out", self.out, "--casing", "cased", status=2))
        self.file("hf/vocab.txt", "\n".join(PIECES + ["more"]) + "\n")
        self.assertIn("9 pieces where config.json says 8", self.refused("model", "import", self.path("hf"), "--out", self.out, status=1))
        self.assertFalse(os.path.exists(self.out))
        self.assertIn("no model", self.refused("model", "info", "nothing", status=1))
        self.assertIn("--out", self.refused("model", "import", self.path("hf"), status=2))


if __name__ == "__main__":
    main()
