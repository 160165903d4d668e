"""Golden values of layer norm, multi-head attention and the Transformer block: tests/golden/nn/transformer.json."""

import torch

from golden import parameter, parameters_of, tensor, write

torch.manual_seed(4)
cases = {}

norm = torch.nn.LayerNorm(6, eps=1e-12)
weights = parameters_of(norm)
x, dy = parameter(3, 6, scale=2), tensor(3, 6)
y = norm(x)
y.backward(dy)
cases["layer_norm"] = {"parameters": weights, "x": x, "dy": dy, "y": y, "dx": x.grad,
                       "gradients": {name: w.grad for name, w in norm.named_parameters()}}

# Attention of queries to keys of another length, three heads, over two pairs of sequences.
d, heads = 6, 3
pairs = [(4, 5), (2, 1)]
q = [parameter(n, d, scale=1) for n, _ in pairs]
k = [parameter(m, d, scale=1) for _, m in pairs]
v = [parameter(m, d, scale=1) for _, m in pairs]
dy = [tensor(n, d) for n, _ in pairs]


def split(x):
    return x.reshape(x.shape[0], heads, d // heads).transpose(0, 1)


outputs, weights = [], []
for i in range(len(pairs)):
    scores = torch.softmax(split(q[i]) @ split(k[i]).transpose(1, 2) / (d // heads) ** 0.5, dim=2)
    outputs.append((scores @ split(v[i])).transpose(0, 1).reshape(-1, d))
    weights.append(scores)
    outputs[-1].backward(dy[i])
cat = torch.cat
cases["attention"] = {
    "heads": heads, "queries": [n for n, _ in pairs], "keys": [m for _, m in pairs],
    "q": cat(q), "k": cat(k), "v": cat(v), "dy": cat(dy), "y": cat(outputs), "first_weights": weights[0][1],
    "dq": cat([t.grad for t in q]), "dk": cat([t.grad for t in k]), "dv": cat([t.grad for t in v])}

# PyTorch's own encoder layer, whose in_proj is our query, key and value below each other.
d, heads, lengths = 8, 2, [3, 5, 1]
layer = torch.nn.TransformerEncoderLayer(d, heads, dim_feedforward=12, dropout=0.0, activation="gelu",
                                         layer_norm_eps=1e-12, batch_first=True)
weights = parameters_of(layer, scale=0.4)
names = {"self_attn.out_proj": "attention.output.dense", "linear1": "intermediate.dense", "linear2": "output.dense",
         "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}


def renamed(tensors):
    result = {}
    for name, value in tensors.items():
        if name.startswith("self_attn.in_proj_"):
            kind = name.removeprefix("self_attn.in_proj_")
            for part, rows in zip(("query", "key", "value"), value.split(d)):
                result[f"attention.self.{part}.{kind}"] = rows
        else:
            module, kind = name.rsplit(".", 1)
            result[f"{names[module]}.{kind}"] = value
    return result


xs, dys, ys = [parameter(n, d, scale=1) for n in lengths], [tensor(n, d) for n in lengths], []
for x, dy in zip(xs, dys):
    ys.append(layer(x.unsqueeze(0)).squeeze(0))
    ys[-1].backward(dy)
cases["block"] = {"hidden": d, "heads": heads, "feed_forward": 12, "lengths": lengths, "parameters": renamed(weights),
                  "x": cat(xs), "dy": cat(dys), "y": cat(ys), "dx": cat([x.grad for x in xs]),
                  "gradients": renamed({name: w.grad for name, w in layer.named_parameters()})}

write("nn/transformer.json", cases)
