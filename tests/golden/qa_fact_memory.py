#!/usr/bin/env python3
"""Reference values of the memory network (qa/memory_network.h) by PyTorch, in double precision.

    python3 tests/golden/qa_fact_memory.py > tests/golden/qa/fact_memory.json
"""
import json
import random

import torch

torch.set_default_dtype(torch.float64)
D, ROWS, PARTS, FEATURES = 3, 9, 5, 3


def tensor_json(tensor):
    return {"shape": list(tensor.shape), "data": [round(x, 12) for x in tensor.detach().reshape(-1).tolist()]}


def random_bag(rng, empty=False):
    """Tokens, each a list of (row, weight)."""
    if empty:
        return []
    return [[(rng.randrange(ROWS), rng.choice([1.0, 0.5])) for _ in range(rng.randint(1, 2))]
            for _ in range(rng.randint(1, 3))]


def pool(p, bag, column):
    if not bag:
        return torch.zeros(D)
    logits = torch.stack([torch.stack([p["gates.weight"][r, column] for r, _ in token]).mean() for token in bag])
    vectors = torch.stack([sum(w * p["words.weight"][r] for r, w in token) for token in bag])
    return torch.softmax(logits, 0) @ vectors


def case(name, seed, hops, episodic):
    rng = random.Random(seed)
    torch.manual_seed(seed)
    shapes = {"words.weight": (ROWS, D), "gates.weight": (ROWS, 3), "features.weight": (1, FEATURES),
              "key.weight": (D, PARTS * D), "key.bias": (D,), "inverse_key.weight": (D, PARTS * D),
              "inverse_key.bias": (D,), "value.weight": (D, 2 * D), "query.weight": (D, D), "query.bias": (D,),
              "subject.weight": (D, D)}
    if episodic:
        shapes.update({"episode_gates.weight": (2 * D, 2 * D), "episode_gates.bias": (2 * D,),
                       "episode_out.weight": (D, D), "episode_out.bias": (D,), "episode_state.weight": (D, D),
                       "episode_state.bias": (D,)})
    else:
        shapes.update({f"hop{h}.weight": (D, D) for h in range(hops)})
    p = {k: (torch.randn(s) * 0.7).requires_grad_(True) for k, s in shapes.items()}

    predicates = [[random_bag(rng, empty=(part > 1 and rng.random() < 0.4)) for part in range(PARTS)] for _ in range(4)]
    inverse = [False, True, False, True]
    question, mention = random_bag(rng), random_bag(rng)
    subjects = [random_bag(rng) for _ in range(2)]
    slots = [{"key": k, "subject": s, "features": [rng.choice([0.0, 1.0]), 0.25 * rng.randint(0, 4), rng.randint(0, 32) / 64]}
             for k, s in [(0, 0), (1, 0), (2, 1), (3, 1), (0, 1)]]

    keys, values = [], []
    for bags, back in zip(predicates, inverse):
        parts = [pool(p, bag, 1) for bag in bags]
        way = "inverse_key" if back else "key"
        key = p[way + ".weight"] @ torch.cat(parts) + p[way + ".bias"]
        keys.append(key)
        values.append(p["value.weight"] @ torch.cat([key, parts[-1]]))
    mapped = p["subject.weight"] @ pool(p, mention, 2)
    prior = torch.stack([mapped @ pool(p, subjects[s["subject"]], 2)
                         + p["features.weight"][0] @ torch.tensor(s["features"]) for s in slots])
    K = torch.stack([keys[s["key"]] for s in slots])
    V = torch.stack([values[s["key"]] for s in slots])
    q = p["query.weight"] @ pool(p, question, 0) + p["query.bias"]
    attention = []
    for h in range(hops):
        share = torch.softmax(K @ q + prior, 0)
        attention.append(share)
        o = share @ V
        if episodic:
            gates = torch.sigmoid(p["episode_gates.weight"] @ torch.cat([o, q]) + p["episode_gates.bias"])
            z, r = gates[:D], gates[D:]
            c = torch.tanh(p["episode_out.weight"] @ o + p["episode_out.bias"]
                           + r * (p["episode_state.weight"] @ q + p["episode_state.bias"]))
            q = (1 - z) * q + z * c
        else:
            q = q + p[f"hop{h}.weight"] @ o
    scores = K @ q + prior
    d_scores = torch.randn(len(slots))
    (scores * d_scores).sum().backward()
    return {"name": name, "hops": hops, "episodic": episodic, "predicates": predicates, "inverse": inverse,
            "question": question, "mention": mention, "subjects": subjects, "slots": slots,
            "parameters": {k: tensor_json(v) for k, v in p.items()},
            "gradients": {k: tensor_json(v.grad) for k, v in p.items()},
            "scores": tensor_json(scores), "d_scores": tensor_json(d_scores),
            "attention": [tensor_json(a) for a in attention]}


print(json.dumps({"cases": [case("one hop", 1, 1, False), case("three hops", 2, 3, False),
                            case("episodic, two hops", 3, 2, True)]}, ensure_ascii=False))
