"""Golden values of BERT's pre-training losses: tests/golden/reader/pretraining.json. Run with /usr/bin/python3 (python3-torch).

    /usr/bin/python3 tests/golden/reader_pretraining.py

The heads are written here a second time over plain PyTorch tensors, after Devlin 2019 (section 3.1, appendix A.2) and
Hugging Face's names, on the encoder of reader_encoder.py; gradients are PyTorch's.
"""

import json
import pathlib

import torch

from golden import encode, parameter
from reader_encoder import encoder, layer_norm, linear

HIDDEN, HEADS, INNER, LAYERS, VOCABULARY, POSITIONS = 8, 2, 12, 1, 11, 9


def weights():
    shapes = {"bert.embeddings.word_embeddings.weight": (VOCABULARY, HIDDEN),
              "bert.embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
              "bert.embeddings.token_type_embeddings.weight": (2, HIDDEN), "cls.predictions.bias": (VOCABULARY,)}
    block = "bert.encoder.layer.0."
    dense = [(f"{block}attention.self.{part}", HIDDEN, HIDDEN) for part in ("query", "key", "value")]
    dense += [(block + "attention.output.dense", HIDDEN, HIDDEN), (block + "intermediate.dense", HIDDEN, INNER),
              (block + "output.dense", INNER, HIDDEN), ("bert.pooler.dense", HIDDEN, HIDDEN),
              ("cls.predictions.transform.dense", HIDDEN, HIDDEN), ("cls.seq_relationship", HIDDEN, 2)]
    for name, n, m in dense:
        shapes[name + ".weight"], shapes[name + ".bias"] = (m, n), (m,)
    for name in ("bert.embeddings.LayerNorm", block + "attention.output.LayerNorm", block + "output.LayerNorm",
                 "cls.predictions.transform.LayerNorm"):
        shapes[name + ".weight"], shapes[name + ".bias"] = (HIDDEN,), (HIDDEN,)
    return {name: parameter(*shape) for name, shape in shapes.items()}


def losses(w, case):
    """Masked LM loss of each masked place, and the loss of the next sentence (class 0: it follows)."""
    bare = {name.removeprefix("bert."): value for name, value in w.items()}
    x = encoder(bare, torch.tensor(case["ids"]), torch.tensor(case["types"]), LAYERS, HEADS)[-1]
    h = torch.nn.functional.gelu(linear(x[case["places"]], w, "cls.predictions.transform.dense"))
    h = layer_norm(h, w, "cls.predictions.transform.LayerNorm", 1e-12)
    scores = h @ w["bert.embeddings.word_embeddings.weight"].T + w["cls.predictions.bias"]
    masked = torch.nn.functional.cross_entropy(scores, torch.tensor(case["targets"], dtype=torch.long), reduction="none")
    pooled = torch.tanh(linear(x[:1], w, "bert.pooler.dense"))
    next_loss = torch.nn.functional.cross_entropy(linear(pooled, w, "cls.seq_relationship"), torch.tensor([0 if case["next"] else 1]))
    return masked, next_loss


if __name__ == "__main__":
    torch.manual_seed(23)
    w = weights()
    cases = [{"ids": [2, 4, 7, 3, 8, 4, 3], "types": [0, 0, 0, 0, 1, 1, 1], "places": [1, 5], "targets": [6, 9], "next": True},
             {"ids": [2, 10, 3, 6, 4, 9, 5, 5, 3], "types": [0, 0, 0, 1, 1, 1, 1, 1, 1], "places": [1, 4, 6], "targets": [10, 7, 5],
              "next": False},
             {"ids": [2, 1, 3, 1, 3], "types": [0, 0, 0, 1, 1], "places": [], "targets": [], "next": False}]
    total = 0
    for case in cases:
        masked, next_loss = losses(w, case)
        case["masked_loss"], case["next_loss"] = float(masked.sum()), float(next_loss)
        total = total + next_loss + (masked.mean() if len(masked) else 0)
    total.backward()
    result = {"config": {"vocab_size": VOCABULARY, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
                         "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
                         "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0},
              "cases": cases, "loss": float(total), "parameters": w, "gradients": {name: value.grad for name, value in w.items()}}
    target = pathlib.Path(__file__).parent / "reader" / "pretraining.json"
    target.write_text(json.dumps(encode(result), separators=(",", ":")).replace("},", "},\n") + "\n")
    print(target.stat().st_size)
