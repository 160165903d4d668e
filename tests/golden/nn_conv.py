"""Golden values of convolution, pooling and ABCNN blocks: tests/golden/nn/conv.json."""

import torch
import torch.nn.functional as F

from golden import parameter, tensor, write

torch.manual_seed(32)
cases = {}
LENGTHS = [4, 1, 6]


def each(x, lengths=LENGTHS):
    return torch.split(x, lengths)


def store(name, tensors, y, more=None):
    dy = tensor(*y.shape)
    y.backward(dy)
    case = {"y": y, "dy": dy} | (more or {})
    for key, t in tensors.items():
        case[key] = t
        case["d" + key] = t.grad
    cases[name] = case


for padding, kernel, dilation in [("valid", 3, 1), ("same", 3, 1), ("same", 4, 1), ("full", 4, 1), ("same", 3, 2),
                                  ("full", 2, 3), ("valid", 1, 1)]:
    x, weight, bias = parameter(sum(LENGTHS), 3, scale=1), parameter(2, 3, kernel), parameter(2)
    reach = dilation * (kernel - 1)
    before, behind = {"valid": (0, 0), "same": (reach // 2, reach - reach // 2), "full": (reach, reach)}[padding]
    rows = []
    for part in each(x):
        padded = F.pad(part.T, (before, behind))
        if padded.shape[1] > reach:
            rows.append(F.conv1d(padded[None], weight, bias, dilation=dilation)[0].T)
    store(f"conv {padding} {kernel} {dilation}", {"x": x, "weight": weight, "bias": bias}, torch.cat(rows),
          {"padding": padding, "kernel": kernel, "dilation": dilation})

for name, function in {"max": lambda s: s.max(0).values, "mean": lambda s: s.mean(0), "first": lambda s: s[0],
                       "last": lambda s: s[-1]}.items():
    x = parameter(sum(LENGTHS), 3, scale=1)
    store(f"pool {name}", {"x": x}, torch.stack([function(part) for part in each(x)]))
for name, function in {"max": F.max_pool1d, "mean": F.avg_pool1d}.items():
    x = parameter(sum(LENGTHS), 3, scale=1)
    rows = [function(part.T[None], 3, stride=1)[0].T for part in each(x) if len(part) >= 3]
    store(f"window {name}", {"x": x}, torch.cat(rows))

# ABCNN (Yin 2016), figures 3 and 4: feature maps are (features, words), as in the paper.
PAIRS = [(3, 4), (5, 2)]
D, OUT, W, LONGEST = 3, 2, 2, 5


def match(f0, f1):
    return torch.stack([torch.stack([1 / (1 + torch.linalg.vector_norm(f0[:, i] - f1[:, j]))
                                     for j in range(f1.shape[1])]) for i in range(f0.shape[1])])


for name, before, after in [("bcnn", False, False), ("abcnn1", True, False), ("abcnn2", False, True),
                            ("abcnn3", True, True)]:
    w = {"conv.weight": parameter(OUT, 2 * D if before else D, W), "conv.bias": parameter(OUT)}
    if before:
        w |= {"attention.0": parameter(LONGEST, D), "attention.1": parameter(LONGEST, D)}
    x0, x1 = parameter(sum(a for a, _ in PAIRS), D, scale=1), parameter(sum(b for _, b in PAIRS), D, scale=1)
    outputs, summaries, matrices = ([], []), ([], []), []
    for r0, r1 in zip(torch.split(x0, [a for a, _ in PAIRS]), torch.split(x1, [b for _, b in PAIRS])):
        maps = [r0.T, r1.T]
        if before:
            A = match(*maps)
            matrices.append(A)
            W0, W1 = w["attention.0"].T, w["attention.1"].T  # d x s
            maps = [torch.cat([maps[0], W0[:, :A.shape[1]] @ A.T]), torch.cat([maps[1], W1[:, :A.shape[0]] @ A])]
        wide = [torch.tanh(F.conv1d(F.pad(m, (W - 1, W - 1))[None], w["conv.weight"], w["conv.bias"]))[0] for m in maps]
        if after:
            A = match(*wide)
            sums = [A.sum(1), A.sum(0)]
        for t in range(2):
            words = maps[t].shape[1]
            weighted = wide[t] * sums[t] if after else wide[t] / W
            outputs[t].append(torch.stack([weighted[:, j:j + W].sum(1) for j in range(words)]))
            summaries[t].append(wide[t].mean(1))
    ys = [torch.cat(o) for o in outputs] + [torch.stack(s) for s in summaries]
    dys = [tensor(*y.shape) for y in ys]
    sum((y * dy).sum() for y, dy in zip(ys, dys)).backward()
    cases[name] = {"parameters": w, "gradients": {n: t.grad for n, t in w.items()}, "x0": x0, "x1": x1, "dx0": x0.grad,
                   "dx1": x1.grad, "y0": ys[0], "y1": ys[1], "summary0": ys[2], "summary1": ys[3], "dy0": dys[0],
                   "dy1": dys[1], "d_summary0": dys[2], "d_summary1": dys[3]}
    if before:
        cases[name]["matrix"] = torch.cat([m.reshape(-1) for m in matrices])

write("nn/conv.json", cases)
