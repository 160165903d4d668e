#!/usr/bin/env python3
"""Models from the command line: a folder of Hugging Face taken over, listed and shown."""
import json
import os
import random
import struct
import unittest

from support import Case, main

HIDDEN, LAYERS, INNER, POSITIONS = 4, 1, 6, 10
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##c"]


def shapes(head):
    found = {"embeddings.word_embeddings.weight": [len(PIECES), HIDDEN], "embeddings.position_embeddings.weight": [POSITIONS, HIDDEN],
             "embeddings.token_type_embeddings.weight": [2, HIDDEN], "pooler.dense.weight": [HIDDEN, HIDDEN]}
    norms, dense = ["embeddings.LayerNorm"], []
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        norms += [layer + "attention.output.LayerNorm", layer + "output.LayerNorm"]
        dense += [(f"{layer}attention.self.{part}", HIDDEN, HIDDEN) for part in ("query", "key", "value")]
        dense += [(layer + "attention.output.dense", HIDDEN, HIDDEN), (layer + "intermediate.dense", INNER, HIDDEN),
                  (layer + "output.dense", HIDDEN, INNER)]
    for name, rows, columns in dense:
        found[name + ".weight"], found[name + ".bias"] = [rows, columns], [rows]
    for name in norms:
        found[name + ".gamma"], found[name + ".beta"] = [HIDDEN], [HIDDEN]
    found = {"bert." + name: shape for name, shape in found.items()}
    if head:
        found["qa_outputs.weight"], found["qa_outputs.bias"] = [2, HIDDEN], [2]
    return found


def safetensors(tensors):
    draw, header, data = random.Random(1), {}, b""
    for name, shape in tensors.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        begin = len(data)
        data += struct.pack(f"<{count}e", *(draw.gauss(0, 0.1) for _ in range(count)))
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Model(Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("hf"))
        os.makedirs(self.path("models"))
        self.out = self.path("models/tiny")
        self.file("hf/config.json", json.dumps({
            "model_type": "bert", "vocab_size": len(PIECES), "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 2,
            "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "hidden_act": "gelu"}))
        self.file("hf/vocab.txt", "\n".join(PIECES) + "\n")
        self.file("hf/tokenizer_config.json", '{"do_lower_case": true}')
        self.file("hf/model.safetensors", safetensors(shapes(head=True)))

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
