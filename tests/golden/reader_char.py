"""Golden values of the character reader: tests/golden/reader/char.json. Run with /usr/bin/python3 (python3-torch).

    /usr/bin/python3 tests/golden/reader_char.py

"lexical" is LAC's network (two bidirectional GRU layers whose reset gate acts before the product, and a CRF decoded by
trying every tagging), "network" the reading network over PyTorch's own LSTM, each with random weights of its own and
every text computed alone.
"""

import itertools

import torch

from golden import parameters_of, tensor, write


def gru(x, w, name, reverse):
    h = torch.zeros(w[name + ".candidate.weight"].shape[0], dtype=x.dtype)
    d = len(h)
    gates, candidate = w[name + ".gates.weight"], w[name + ".candidate.weight"]
    out = [None] * len(x)
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        z = w[name + ".input.weight"] @ x[t] + w[name + ".input.bias"]
        u = torch.sigmoid(z[:d] + gates[:d] @ h)
        r = torch.sigmoid(z[d:2 * d] + gates[d:] @ h)
        c = torch.tanh(z[2 * d:] + candidate @ (r * h))
        h = (1 - u) * h + u * c
        out[t] = h
    return torch.stack(out)


def lexical():
    torch.manual_seed(5)
    vocabulary, dim, hidden, tags = 7, 5, 3, 4
    shapes = {"lexical.characters.weight": (vocabulary, dim)}
    for layer in range(2):
        for direction in "fr":
            name = f"lexical.l{layer}{direction}."
            shapes |= {name + "input.weight": (3 * hidden, dim if layer == 0 else 2 * hidden), name + "input.bias": (3 * hidden,),
                       name + "gates.weight": (2 * hidden, hidden), name + "candidate.weight": (hidden, hidden)}
    shapes |= {"lexical.emission.weight": (tags, 2 * hidden), "lexical.emission.bias": (tags,),
               "lexical.crf.transitions": (tags, tags), "lexical.crf.start_transitions": (tags,),
               "lexical.crf.end_transitions": (tags,)}
    w = {name: tensor(*shape) for name, shape in shapes.items()}
    sentences = [[1, 0, 6, 2, 2], [5], [3, 4, 1, 0, 2, 6]]
    states, best = [], []
    for rows in sentences:
        x = w["lexical.characters.weight"][rows]
        for layer in range(2):
            x = torch.cat([gru(x, w, f"lexical.l{layer}{d}", d == "r") for d in "fr"], 1)
        states.append(x)
        emission = x @ w["lexical.emission.weight"].T + w["lexical.emission.bias"]

        def score(path):
            s = w["lexical.crf.start_transitions"][path[0]] + w["lexical.crf.end_transitions"][path[-1]]
            s = s + sum(emission[t, tag] for t, tag in enumerate(path))
            return s + sum(w["lexical.crf.transitions"][a, b] for a, b in zip(path, path[1:]))

        best += max(itertools.product(range(tags), repeat=len(rows)), key=score)
    return {"sizes": [vocabulary, dim, hidden, tags], "parameters": w, "sentences": sentences,
            "states": torch.cat(states), "tags": best}


def lstm(w, name, width, hidden, layers):
    module = torch.nn.LSTM(width, hidden, layers, bidirectional=True, batch_first=True)
    w |= {f"{name}.{key}": value for key, value in parameters_of(module).items()}
    return lambda x: module(x.unsqueeze(0))[0].squeeze(0)


def network():
    torch.manual_seed(6)
    inputs, pair, width, hidden, layers = 6, 3, 5, 4, 2
    h = 2 * hidden
    w = {}

    def linear(name, i, o):
        w[name + ".weight"], w[name + ".bias"] = tensor(o, i, scale=0.5), tensor(o)
        return lambda x: x @ w[name + ".weight"].T + w[name + ".bias"]

    embed, join = linear("embed", inputs, width), linear("join", 3 * h + width + pair, width)
    start, end = linear("start", h, h + width), linear("end", h, h + width)
    encoder, reader = lstm(w, "encoder", width, hidden, 1), lstm(w, "reader", width, hidden, layers)
    w["align.score.weight"] = tensor(h, h)
    w["pooling.score.key.weight"] = tensor(hidden, h)
    w["pooling.score.key.bias"] = tensor(hidden)
    w["pooling.score.out.weight"] = tensor(1, hidden)
    contexts = [tensor(n, inputs) for n in (5, 3)]
    questions = [tensor(n, inputs) for n in (2, 4, 1)]
    context_of = [0, 1, 0]
    pairs = [tensor(len(contexts[c]), pair) for c in context_of]
    scores = []
    for q, c, f in zip(questions, context_of, pairs):
        e, eq = torch.relu(embed(contexts[c])), torch.relu(embed(q))
        hc, hq = encoder(e), encoder(eq)
        a = torch.softmax(hc @ w["align.score.weight"] @ hq.T, 1) @ hq
        r = torch.relu(join(torch.cat([hc, a, hc * a, e, f], 1)))
        o = torch.cat([reader(r), r], 1)
        weight = torch.tanh(hq @ w["pooling.score.key.weight"].T + w["pooling.score.key.bias"]) @ w["pooling.score.out.weight"].T
        u = (torch.softmax(weight, 0) * hq).sum(0)
        scores.append(torch.stack([o @ start(u), o @ end(u)], 1))
    return {"sizes": [inputs, pair, width, hidden, layers], "parameters": w, "lengths": [len(t) for t in contexts + questions],
            "context_of": context_of, "x": torch.cat(contexts + questions), "pair": torch.cat(pairs),
            "scores": torch.cat(scores)}


if __name__ == "__main__":
    write("reader/char.json", {"lexical": lexical(), "network": network()})
