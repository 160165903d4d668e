"""Golden values of graph embeddings: tests/golden/kb/embedding.json. Scores and gradients of every model, and the
1-vs-all cross-entropy of a small graph, from the published formulas by PyTorch."""

import torch

from golden import parameter, tensor, write

torch.manual_seed(4)
DIM, SPACE = 6, 4


def norm(x, p):
    return x.abs().sum(-1) if p == "l1" else (x * x).sum(-1).sqrt()


def transe(h, r, t, p):
    return -norm(h + r - t, p)


def transh(h, r, t, p):
    d, w = r[..., :DIM], r[..., DIM:]
    flat = lambda x: x - (w * x).sum(-1, keepdim=True) * w
    return -norm(flat(h) + d - flat(t), p)


def transr(h, r, t, p):
    d, m = r[:SPACE], r[SPACE:].reshape(SPACE, DIM)
    return -norm(m @ h + d - m @ t, p)


def as_complex(x):
    half = x.shape[-1] // 2
    return torch.complex(x[..., :half], x[..., half:])


def rotate(h, r, t, p):
    e = as_complex(h) * torch.polar(torch.ones_like(r), r) - as_complex(t)
    return -(e.abs().sum(-1) if p == "l1" else (e.real ** 2 + e.imag ** 2).sum(-1).sqrt())


def distmult(h, r, t, p):
    return (h * r * t).sum(-1)


def complex_(h, r, t, p):
    return (as_complex(h) * as_complex(r) * as_complex(t).conj()).real.sum(-1)


MODELS = {"transe": (transe, DIM), "transh": (transh, 2 * DIM), "transr": (transr, SPACE + SPACE * DIM),
          "rotate": (rotate, DIM // 2), "distmult": (distmult, DIM), "complex": (complex_, DIM)}
cases = {}
for name, (score, size) in MODELS.items():
    for p in ("l1", "l2"):
        h, r, t = parameter(DIM, scale=1), parameter(size, scale=1), parameter(DIM, scale=1)
        s = score(h, r, t, p)
        s.backward()
        cases[f"{name}_{p}"] = {"h": h, "r": r, "t": t, "score": s.item(), "dh": h.grad, "dr": r.grad, "dt": t.grad}

# 1-vs-all: both ends of each fact among all entities; with "filter", other true answers leave the sum.
FACTS = [(0, 0, 1), (0, 0, 2), (1, 1, 3), (3, 0, 4), (4, 1, 0), (2, 1, 3)]
for name in ("transe", "rotate", "distmult", "complex"):
    score, size = MODELS[name]
    for filtered in (False, True):
        e, r = parameter(5, DIM, scale=0.7), parameter(2, size, scale=0.7)
        loss = 0
        for h, k, t in FACTS:
            tails, heads = score(e[h], r[k], e, "l2"), score(e, r[k], e[t], "l2")
            for scores, own, true in ((tails, t, [b for a, q, b in FACTS if (a, q) == (h, k)]),
                                      (heads, h, [a for a, q, b in FACTS if (q, b) == (k, t)])):
                keep = [i for i in range(5) if i == own or not filtered or i not in true]
                loss = loss + torch.logsumexp(scores[keep], 0) - scores[own]
        loss.backward()
        cases[f"one_vs_all_{name}{'_filtered' if filtered else ''}"] = {
            "facts": FACTS, "entities": e, "relations": r, "loss": loss.item(), "d_entities": e.grad, "d_relations": r.grad}

write("kb/embedding.json", cases)
