"""Folders of Hugging Face with a small BERT of random weights."""
import json
import os
import random
import struct


def shapes(pieces, hidden, layers, inner, positions, head):
    found = {"embeddings.word_embeddings.weight": [pieces, hidden], "embeddings.position_embeddings.weight": [positions, hidden],
             "embeddings.token_type_embeddings.weight": [2, hidden], "pooler.dense.weight": [hidden, hidden]}
    norms, dense = ["embeddings.LayerNorm"], []
    for i in range(layers):
        layer = f"encoder.layer.{i}."
        norms += [layer + "attention.output.LayerNorm", layer + "output.LayerNorm"]
        dense += [(f"{layer}attention.self.{part}", hidden, hidden) for part in ("query", "key", "value")]
        dense += [(layer + "attention.output.dense", hidden, hidden), (layer + "intermediate.dense", inner, hidden),
                  (layer + "output.dense", hidden, inner)]
    for name, rows, columns in dense:
        found[name + ".weight"], found[name + ".bias"] = [rows, columns], [rows]
    for name in norms:
        found[name + ".gamma"], found[name + ".beta"] = [hidden], [hidden]
    found = {"bert." + name: shape for name, shape in found.items()}
    if head:
        found["qa_outputs.weight"], found["qa_outputs.bias"] = [2, hidden], [2]
    return found


def safetensors(tensors):
    draw, header, data = random.Random(1), {}, b""
    for name, shape in tensors.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        begin = len(data)
        middle = 1.0 if name.endswith(".gamma") else 0.0
        data += struct.pack(f"<{count}e", *(draw.gauss(middle, 0.1) for _ in range(count)))
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def write_bert_folder(case, name, pieces, hidden=4, layers=1, inner=6, positions=10, head=True):
    """The folder `name` in the test's own one; an uncased vocabulary of these pieces."""
    os.makedirs(case.path(name), exist_ok=True)
    case.file(f"{name}/config.json", json.dumps({
        "model_type": "bert", "vocab_size": len(pieces), "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": 2,
        "intermediate_size": inner, "max_position_embeddings": positions, "type_vocab_size": 2, "hidden_act": "gelu"}))
    case.file(f"{name}/vocab.txt", "\n".join(pieces) + "\n")
    case.file(f"{name}/tokenizer_config.json", '{"do_lower_case": true}')
    case.file(f"{name}/model.safetensors", safetensors(shapes(len(pieces), hidden, layers, inner, positions, head)))
    return case.path(name)
