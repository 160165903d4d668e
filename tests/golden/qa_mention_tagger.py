"""Golden values of the mention tagger's network: tests/golden/qa/mention_tagger.json.

The network of qa/mention_network.h written with PyTorch's modules; the probability of every span, the best tagging and
the loss by going through all taggings one by one.
"""

import itertools

import torch

from golden import parameters_of, tensor, write

torch.manual_seed(11)
OUTSIDE, BEGIN, INSIDE = 0, 1, 2
SHAPES = 10


class Tagger(torch.nn.Module):
    def __init__(self, words, own, letters, pairs, dim, own_dim, letter_dim, pair_dim, filters, hidden):
        super().__init__()
        self.words = torch.nn.Embedding(words, dim)
        self.own = torch.nn.Embedding(own, own_dim)
        self.letters = torch.nn.Embedding(letters, letter_dim)
        self.pairs = torch.nn.Embedding(pairs, pair_dim)
        self.convolution = torch.nn.Conv1d(letter_dim, filters, 3, padding="same")
        width = dim + own_dim + filters + SHAPES + 2 * pair_dim
        self.encoder = torch.nn.LSTM(width, hidden, bidirectional=True, batch_first=True)
        self.tags = torch.nn.Linear(2 * hidden, 3)

    def forward(self, words, own, spellings, shapes, pairs):
        letters = torch.stack([
            torch.relu(self.convolution(self.letters(s).T.unsqueeze(0))).amax(dim=2)[0] for s in spellings])
        bits = torch.stack([torch.tensor([(s >> bit) & 1 for bit in range(SHAPES)]) for s in shapes]).double()
        x = torch.cat([self.words(words), self.own(own), letters, bits, self.pairs(pairs).reshape(len(words), -1)],
                      dim=1)
        h, _ = self.encoder(x.unsqueeze(0))
        return self.tags(h[0])


def allowed(tags):
    return tags[0] != INSIDE and all(b != INSIDE or a != OUTSIDE for a, b in zip(tags, tags[1:]))


def spans_of(tags):
    spans, first = [], None
    for i, tag in enumerate([*tags, OUTSIDE]):
        if tag != INSIDE and first is not None:
            spans.append((first, i))
            first = None
        if tag == BEGIN:
            first = i
    return spans


sizes = dict(words=12, own=5, letters=9, pairs=7, dim=4, own_dim=2, letter_dim=3, pair_dim=2, filters=3, hidden=3)
tagger = Tagger(**sizes)
weights = parameters_of(tagger)
start, end, transitions = tensor(3), tensor(3), tensor(3, 3)
weights |= {"crf.start_transitions": start, "crf.end_transitions": end, "crf.transitions": transitions}
n = 6
words, own = torch.randint(0, 12, (n,)), torch.randint(0, 5, (n,))
spellings = [torch.randint(0, 9, (length,)) for length in (4, 1, 2, 6, 3, 1)]
shapes = torch.randint(0, 1 << SHAPES, (n,)).tolist()
pairs = torch.randint(0, 7, (n, 2))
scores = tagger(words, own, spellings, shapes, pairs).detach()
gold = [OUTSIDE, BEGIN, INSIDE, INSIDE, OUTSIDE, BEGIN]


def score(tags):
    total = start[tags[0]] + end[tags[-1]] + sum(scores[i, tag] for i, tag in enumerate(tags))
    return float(total + sum(transitions[a, b] for a, b in zip(tags, tags[1:])))


taggings = [tags for tags in itertools.product(range(3), repeat=n) if allowed(tags)]
values = torch.tensor([score(tags) for tags in taggings])
shares = torch.softmax(values, 0).tolist()
spans, inside = {}, [0.0] * n
for tags, share in zip(taggings, shares):
    for span in spans_of(tags):
        spans[span] = spans.get(span, 0.0) + share
    for i, tag in enumerate(tags):
        inside[i] += share if tag != OUTSIDE else 0.0
write("qa/mention_tagger.json", {"tagger": {
    "sizes": sizes, "parameters": weights, "words": words.tolist(), "own": own.tolist(),
    "spellings": [s.tolist() for s in spellings], "shapes": shapes, "pairs": pairs.reshape(-1).tolist(),
    "scores": scores, "gold": gold, "loss": float(torch.logsumexp(values, 0)) - score(gold),
    "best": list(taggings[int(values.argmax())]), "inside": inside,
    "spans": [[first, last, share] for (first, last), share in sorted(spans.items())]}})
