"""Golden values of the BERT encoder: tests/golden/reader/encoder.json. Run with /usr/bin/python3 (python3-torch).

    /usr/bin/python3 tests/golden/reader_encoder.py [DATA]

The encoder is written here a second time over plain PyTorch tensors, after Devlin 2019 and Hugging Face's names.
"tiny" has all its weights and PyTorch's gradients; "minilm" has, for the weights in DATA/models/minilm-l6-h384, some
numbers of each layer for a few texts, and of every row its product with cos(1), cos(2), ...
"""

import json
import pathlib
import sys

import numpy
import torch

from golden import encode, parameter, tensor
from reader_wordpiece import load_vocabulary, plain_pieces

FOLDER = pathlib.Path(__file__).parent / "reader"


def layer_norm(x, w, name, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * w[name + ".weight"] + w[name + ".bias"]


def linear(x, w, name):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def encoder(w, ids, types, layers, heads, eps=1e-12):
    """Outputs of the embeddings and of each layer, (length, hidden), for one sequence."""
    x = (w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)]
         + w["embeddings.token_type_embeddings.weight"][types])
    x = layer_norm(x, w, "embeddings.LayerNorm", eps)
    outputs = [x]
    for i in range(layers):
        name = f"encoder.layer.{i}."
        n, d = x.shape

        def split(y):
            return y.reshape(n, heads, d // heads).transpose(0, 1)

        q, k, v = (split(linear(x, w, f"{name}attention.self.{part}")) for part in ("query", "key", "value"))
        weights = torch.softmax(q @ k.transpose(1, 2) / (d // heads) ** 0.5, -1)
        context = (weights @ v).transpose(0, 1).reshape(n, d)
        a = layer_norm(x + linear(context, w, name + "attention.output.dense"), w, name + "attention.output.LayerNorm", eps)
        h = torch.nn.functional.gelu(linear(a, w, name + "intermediate.dense"))
        x = layer_norm(a + linear(h, w, name + "output.dense"), w, name + "output.LayerNorm", eps)
        outputs.append(x)
    return outputs


def tiny():
    torch.manual_seed(11)
    hidden, heads, inner, layers, vocabulary, positions = 8, 2, 12, 2, 9, 6
    shapes = {"embeddings.word_embeddings.weight": (vocabulary, hidden), "embeddings.position_embeddings.weight": (positions, hidden),
              "embeddings.token_type_embeddings.weight": (2, hidden)}
    norms, dense = ["embeddings.LayerNorm"], []
    for i in range(layers):
        name = f"encoder.layer.{i}."
        norms += [name + "attention.output.LayerNorm", name + "output.LayerNorm"]
        dense += [(f"{name}attention.self.{part}", hidden, hidden) for part in ("query", "key", "value")]
        dense += [(name + "attention.output.dense", hidden, hidden), (name + "intermediate.dense", hidden, inner),
                  (name + "output.dense", inner, hidden)]
    for name, n, m in dense:
        shapes[name + ".weight"], shapes[name + ".bias"] = (m, n), (m,)
    for name in norms:
        shapes[name + ".weight"], shapes[name + ".bias"] = (hidden,), (hidden,)
    w = {name: parameter(*shape) for name, shape in shapes.items()}
    sequences = [([2, 5, 7, 3], [0, 0, 1, 1]), ([1], [0]), ([8, 8, 0, 4, 5, 5], [0, 1, 1, 0, 1, 1])]
    outputs, all_dy = [], []
    for ids, types in sequences:
        layer_outputs = encoder(w, torch.tensor(ids), torch.tensor(types), layers, heads)
        dy = tensor(len(ids), hidden)
        layer_outputs[-1].backward(dy)
        outputs.append(layer_outputs)
        all_dy.append(dy)
    return {"config": {"vocab_size": vocabulary, "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                       "intermediate_size": inner, "max_position_embeddings": positions, "type_vocab_size": 2},
            "ids": [s[0] for s in sequences], "types": [s[1] for s in sequences], "parameters": w,
            "layers": [torch.cat([o[i] for o in outputs]) for i in range(layers + 1)], "dy": torch.cat(all_dy),
            "gradients": {name: value.grad for name, value in w.items()}}


def read_safetensors(path):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    kinds = {"F16": numpy.float16, "F32": numpy.float32, "I64": numpy.int64}
    w = {}
    for name, info in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = info["data_offsets"]
            values = numpy.frombuffer(raw[8 + size + begin:8 + size + end], kinds[info["dtype"]]).reshape(info["shape"])
            w[name] = torch.from_numpy(values.astype(numpy.float64))
    return w


def minilm(folder):
    w = read_safetensors(folder / "model.fp16.safetensors")
    vocabulary = load_vocabulary(folder / "vocab.txt")
    cls, sep = vocabulary["[CLS]"], vocabulary["[SEP]"]
    texts = [["That is a happy person"], ["That is a very happy person"], ["Today is a sunny day"],
             ["Who wrote the Origin of Species?", "Charles Darwin's \u201cOn the Origin of Species\u201d appeared on 24 November 1859."]]
    cases, vectors = [], []
    for text in texts:
        ids, types = [cls], [0]
        for i, part in enumerate(text):
            pieces = plain_pieces(part, vocabulary, True) + [sep]
            ids += pieces
            types += [i] * len(pieces)
        outputs = encoder(w, torch.tensor(ids), torch.tensor(types), 6, 12)
        wave = torch.cos(torch.arange(1, 385, dtype=torch.float64))
        mean = outputs[-1].mean(0)
        vectors.append(mean / mean.norm())
        cases.append({"texts": text, "ids": ids, "types": types, "first": [o[0, :6] for o in outputs], "last": [o[-1, -6:] for o in outputs],
                      "waves": [o @ wave for o in outputs], "vector": vectors[-1][:8]})
    return {"cases": cases, "cosines": [float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])]}


if __name__ == "__main__":
    data = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    result = {"tiny": tiny(), "minilm": minilm(data / "models" / "minilm-l6-h384")}
    print(result["minilm"]["cosines"])
    target = FOLDER / "encoder.json"
    target.write_text(json.dumps(encode(result), separators=(",", ":")).replace("},", "},\n") + "\n")
    print(target.stat().st_size)
