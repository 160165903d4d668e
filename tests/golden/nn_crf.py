"""Golden values of the linear-chain CRF: tests/golden/nn/crf.json. Every tagging is enumerated and scored."""

import itertools

import torch

from golden import parameter, tensor, write

torch.manual_seed(5)
cases = {}


def case(tags, lengths, constrained):
    transitions, start, end = parameter(tags, tags, scale=1), parameter(tags, scale=1), parameter(tags, scale=1)
    x = parameter(sum(lengths), tags, scale=1.5)
    may = (torch.rand(tags, tags) < 0.6).int() if constrained else torch.ones(tags, tags).int()
    may_start = torch.ones(tags).int()
    may_end = torch.ones(tags).int()
    if constrained:
        may.fill_diagonal_(1)
        may_start[1], may_end[0] = 0, 0

    def allowed(path):
        return not path or (may_start[path[0]] and may_end[path[-1]]
                            and all(may[a, b] for a, b in zip(path, path[1:])))

    def score(rows, path):
        if not path:
            return rows.sum()  # 0, of no rows
        return (start[path[0]] + sum(row[tag] for row, tag in zip(rows, path)) + end[path[-1]]
                + sum(transitions[a, b] for a, b in zip(path, path[1:])))

    loss, log_sums, gold, best, best_scores = 0, 0, [], [], []
    for rows in torch.split(x, lengths):
        paths = [path for path in itertools.product(range(tags), repeat=len(rows)) if allowed(path)]
        scores = torch.stack([score(rows, path) for path in paths])
        truth = int(torch.randint(len(paths), ()))
        loss = loss + torch.logsumexp(scores, 0) - scores[truth]
        log_sums = log_sums + torch.logsumexp(scores, 0)
        gold += paths[truth]
        best += paths[int(scores.argmax())]
        best_scores.append(scores.max().item())
    marginals, = torch.autograd.grad(log_sums, x, retain_graph=True)
    loss.backward()
    return {"lengths": lengths, "tags": tags, "may": may, "may_start": may_start, "may_end": may_end,
            "parameters": {"transitions": transitions, "start_transitions": start, "end_transitions": end}, "x": x,
            "gold": gold, "loss": loss.item(), "dx": x.grad, "marginals": marginals, "best": best,
            "best_scores": best_scores,
            "gradients": {"transitions": transitions.grad, "start_transitions": start.grad,
                          "end_transitions": end.grad}}


cases["free"] = case(3, [4, 0, 1, 6, 2], False)
cases["constrained"] = case(4, [1, 5, 3, 0, 2], True)
write("nn/crf.json", cases)
