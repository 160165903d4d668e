"""Golden values of qa/path_matcher_network.h by PyTorch: two questions and three paths, with gradients.

Writes qa/path_matcher.json beside this script. Run with /usr/bin/python3.
"""

import torch
from golden import parameter, tensor, write

DIM, HIDDEN, BUCKETS, WORDS, UNITS = 3, 2, 8, 9, 7
WIDTH = 2 * HIDDEN


def lstm(name, inputs, weights):
    module = torch.nn.LSTM(inputs, HIDDEN, bidirectional=True, batch_first=True)
    with torch.no_grad():
        for key, value in module.named_parameters():
            value.copy_(tensor(*value.shape, scale=0.5))
    weights.update({f"{name}.{key}": value for key, value in module.named_parameters()})
    return lambda x: module(x.unsqueeze(0))[0].squeeze(0)


def case(aspects):
    torch.manual_seed(7 + aspects)
    weights = {
        "words.weight": parameter(WORDS, DIM),
        "ngrams.weight": parameter(BUCKETS, DIM),
        "units.weight": parameter(UNITS, DIM),
        "alignment.weight": parameter(1, DIM),
        "prior.weight": parameter(1, WIDTH),
        "score.weight": parameter(1, 2 + aspects, scale=2.0),
    }
    first, second = lstm("first", DIM, weights), lstm("second", WIDTH, weights)
    # Words of the batch: rows of the table, and the n-grams of the one that the table lacks (row 0).
    rows, ngrams = [4, 5, 0, 6, 1, 3], [1, 5, 5, 2]
    questions = [[4, 0, 1, 2], [3, 4]]
    paths = [([0, 3], [4, 5]), ([2, 5, 1], [0]), ([1], [6, 3, 4])]
    aspect_words = [[[0], [], [1, 2]], [[3, 0], [2], []]][:aspects]

    x = [weights["words.weight"][row] for row in rows]
    x[2] = x[2] + weights["ngrams.weight"][ngrams].mean(0)
    x = torch.stack(x)
    unit = x / x.norm(dim=1, keepdim=True)
    relations, parts = [], []
    for words, units in paths:
        h = torch.cat([first(x[words]), first(weights["units.weight"][units])])
        relations.append(h.max(0).values)
        # Signs for steps and directions (rows 1 to 3) are no words that a question could hold.
        words = [w for w in words if not 1 <= rows[w] <= 3]
        parts.append((words, torch.softmax(x[words] @ weights["alignment.weight"][0], 0)))
    relations = torch.stack(relations)
    sides = [torch.stack([first(x[w]).max(0).values if w else torch.zeros(WIDTH) for w in side]) for side in aspect_words]
    scores = []
    for question in questions:
        h = first(x[question])
        states = h + second(h)
        pooled = states.max(0).values
        for i in range(len(paths)):
            total = weights["prior.weight"][0] @ relations[i]
            for k, side in enumerate([relations, *sides]):
                r = side[i]
                context = torch.softmax(states @ r / WIDTH**0.5, 0) @ states
                if r.norm() > 0:
                    cosine = torch.cosine_similarity(pooled + context, r, dim=0)
                    total = total + weights["score.weight"][0, 0 if k == 0 else 1 + k] * cosine
            words, share = parts[i]
            nearest = (unit[words] @ unit[question].T).max(1).values
            scores.append(total + weights["score.weight"][0, 1] * (share @ nearest))
    scores = torch.stack(scores).reshape(len(questions), len(paths))
    d_scores = tensor(*scores.shape)
    (scores * d_scores).sum().backward()
    return {
        "rows": rows,
        "ngrams": ngrams,
        "questions": questions,
        "path_words": [words for words, _ in paths],
        "path_units": [units for _, units in paths],
        "aspects": aspect_words,
        "parameters": {name: value.detach() for name, value in weights.items()},
        "scores": scores,
        "d_scores": d_scores,
        "gradients": {name: value.grad for name, value in weights.items()},
    }


write("qa/path_matcher.json", {"path alone": case(0), "with aspects": case(2)})
