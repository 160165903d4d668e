"""Golden values of nn/attention.h and its relatives: tests/golden/nn/attention.json.

Written from the formulas of the papers named in nn/attention_config.h, query by query and key by key, without
batches: nothing but the formulas is shared with the C++ code. Gradients are PyTorch's.
"""

import math

import torch

from golden import parameter, tensor, write

torch.manual_seed(31)
cases = {}


def sparsemax(z):
    """Martins and Astudillo 2016: z - tau over the support, which is found by trying every size."""
    ordered, _ = torch.sort(z, descending=True)
    for size in range(len(z), 0, -1):
        tau = (ordered[:size].sum() - 1) / size
        if ordered[size - 1] > tau:
            return torch.clamp(z - tau, min=0)
    raise AssertionError


def entmax(z, alpha=1.5):
    """Bisection for the threshold; one Newton step at the solution carries the exact derivative."""
    z = z * (alpha - 1)
    low, high = z.max().item() - 1, z.max().item()
    for _ in range(200):
        middle = (low + high) / 2
        total = torch.clamp(z.detach() - middle, min=0).pow(1 / (alpha - 1)).sum()
        low, high = (middle, high) if total >= 1 else (low, middle)
    inside = (z.detach() > low).nonzero().reshape(-1)
    excess = (z[inside] - low).pow(1 / (alpha - 1)).sum() - 1
    slope = -((z[inside].detach() - low).pow(1 / (alpha - 1) - 1) / (alpha - 1)).sum()
    tau = low - excess / slope
    return torch.zeros_like(z).index_put((inside,), (z[inside] - tau).pow(1 / (alpha - 1)))


DISTRIBUTIONS = {"softmax": lambda z: torch.softmax(z, 0), "sparsemax": sparsemax, "entmax": entmax,
                 "sigmoid": torch.sigmoid}


def score_parameters(score, query, key, hidden, width=1, positions=4, layers=3):
    if score in ("general", "activated_general"):
        shapes = {"weight": (query, key)} | ({"bias": (1,)} if score == "activated_general" else {})
    elif score == "biased_general":
        shapes = {"weight": (key, query), "bias": (key,)}
    elif score == "kernel":
        shapes = {"weight": (hidden, key)}
    elif score == "location":
        shapes = {"weight": (positions, query), "bias": (positions,)} if query else \
            {"weight": (width, key), "bias": (width,)}
    elif score == "concat":
        shapes = {"weight": (hidden, query + key), "bias": (hidden,), "out.weight": (width, hidden)}
    elif score in ("additive", "deep"):
        shapes = {"key.weight": (hidden, key), "key.bias": (hidden,), "out.weight": (width, hidden)}
        if query:
            shapes["query.weight"] = (hidden, query)
        if score == "deep":
            for layer in range(1, layers):
                shapes |= {f"layers.{layer}.weight": (hidden, hidden), f"layers.{layer}.bias": (hidden,)}
    else:
        shapes = {}
    if score == "deep" or (width > 1 and score in ("concat", "additive")):
        shapes["out.bias"] = (width,)
    return {name: parameter(*shape, scale=0.8) for name, shape in shapes.items()}


def score_of(score, w, q, k, s, act, layers=3):
    """Scores of one query for the key at position s: a vector (its width is nearly always 1). q may be None."""
    if score == "dot":
        return (q @ k).reshape(1)
    if score == "scaled_dot":
        return (q @ k / math.sqrt(len(k))).reshape(1)
    if score == "cosine":
        return torch.cosine_similarity(q, k, dim=0).reshape(1)
    if score == "general":
        return (q @ w["weight"] @ k).reshape(1)
    if score == "biased_general":
        return (k @ (w["weight"] @ q + w["bias"])).reshape(1)
    if score == "activated_general":
        return act(q @ w["weight"] @ k + w["bias"][0]).reshape(1)
    if score == "kernel":
        hidden = w["weight"].shape[0]
        phi = lambda x: act(w["weight"] @ x) / math.sqrt(hidden)
        return (phi(q) @ phi(k)).reshape(1)
    if score == "location":
        return w["weight"] @ k + w["bias"] if q is None else (w["weight"][s] @ q + w["bias"][s]).reshape(1)
    if score == "concat":
        h = act(w["weight"] @ (k if q is None else torch.cat([q, k])) + w["bias"])
    else:
        h = w["key.weight"] @ k + w["key.bias"]
        h = act(h if q is None else h + w["query.weight"] @ q)
    if score == "deep":
        for layer in range(1, layers):
            h = act(w[f"layers.{layer}.weight"] @ h + w[f"layers.{layer}.bias"])
    e = w["out.weight"] @ h
    return e + w["out.bias"] if "out.bias" in w else e


def attend(score, distribution, w, q, keys, values, act=torch.tanh, window=None, alpha=1.5, by_feature=False,
           limit=1 << 30):
    """One query (or None) over the keys of a segment: context rows and weight rows (width of the score each).

    window: None or (first, end, gaussian or None); the Gaussian is a function of the key's position.
    """
    first, end, gaussian = window or (0, len(keys), None)
    end = min(end, limit)
    scores = torch.stack([score_of(score, w, q, keys[s], s, act) for s in range(first, end)], 1)  # (width, n)
    rows = []
    for row in scores:
        weights = entmax(row, alpha) if distribution == "entmax" else DISTRIBUTIONS[distribution](row)
        if gaussian:
            weights = weights * torch.stack([gaussian(s) for s in range(first, end)])
        rows.append(torch.cat([torch.zeros(first), weights, torch.zeros(len(keys) - end)]))
    weights = torch.stack(rows)
    context = (weights.T * values).sum(0, keepdim=True) if by_feature else weights @ values
    return context, weights


def gradients(tensors):
    return {name: torch.zeros_like(t) if t.grad is None else t.grad for name, t in tensors.items()}


Q_LENGTHS, K_LENGTHS = [2, 1], [3, 5]


def inputs(query, key, value):
    q = parameter(sum(Q_LENGTHS), query, scale=1) if query else None
    return q, parameter(sum(K_LENGTHS), key, scale=1), parameter(sum(K_LENGTHS), value, scale=1)


def split(x, lengths):
    return torch.split(x, lengths)


def finish(name, config, w, tensors, y, weights, extra=0.0):
    dy = tensor(*y.shape)
    ((y * dy).sum() + extra).backward()
    case = {"config": config, "parameters": w, "dy": dy, "y": y, "gradients": gradients(w),
            "weights": torch.cat([x.reshape(-1) for x in weights])}
    for key, t in tensors.items():
        case[key] = t
        case["d" + key] = torch.zeros_like(t) if t.grad is None else t.grad
    cases[name] = case


def case(name, score, distribution, query, key, value, hidden=3, window="global", half_width=2, alpha=1.5, by_feature=False,
         rows=1, act="tanh", training=False, position_hidden=3):
    config = f"score={score} distribution={distribution} key={key} value={value} hidden={hidden} layers=3 positions=4"
    config += f" activation={act} query={query} window={window} half_width={half_width} alpha={alpha} rows={rows}"
    config += " by_feature=true" if by_feature else ""
    learned = query == 0 and score in ("dot", "scaled_dot", "cosine", "general", "biased_general",
                                       "activated_general", "kernel")
    width = value if by_feature else rows if query == 0 and not learned else 1
    w = {f"score.{n}": t for n, t in score_parameters(score, key if learned else query, key, hidden, width).items()}
    if learned:
        w["query_vectors"] = parameter(rows, key, scale=0.8)
    if window == "local_p":
        w["position.hidden.weight"] = parameter(position_hidden, query, scale=0.8)
        w["position.out.weight"] = parameter(1, position_hidden, scale=0.8)
    q, k, v = inputs(query, key, value)
    own = {n.removeprefix("score."): t for n, t in w.items()}
    activation = {"tanh": torch.tanh, "relu": torch.relu, "gelu": torch.nn.functional.gelu}[act]
    contexts, weights = [], []
    for i, (keys, values) in enumerate(zip(split(k, K_LENGTHS), split(v, K_LENGTHS))):
        queries = split(q, Q_LENGTHS)[i] if query else w["query_vectors"] if learned else [None]
        for t, one in enumerate(queries):
            view = None
            if window == "local_m":
                view = (max(0, t - half_width), min(len(keys), t + half_width + 1), None)
            if window == "local_p":
                p = len(keys) * torch.sigmoid(w["position.out.weight"][0] @ torch.tanh(w["position.hidden.weight"] @ one))
                sigma = half_width / 2
                view = (max(0, math.ceil(p.item() - half_width)), min(len(keys), math.floor(p.item() + half_width) + 1),
                        lambda s, p=p, sigma=sigma: torch.exp(-(s - p) ** 2 / (2 * sigma ** 2)))
            context, rows_of_weights = attend(score, distribution, own, one, keys, values, activation, view, alpha,
                                              by_feature, 4 if score == "location" and query else 1 << 30)
            if window == "hard" and not training:
                rows_of_weights = torch.nn.functional.one_hot(rows_of_weights[0].argmax(), len(keys)).double()[None]
                context = rows_of_weights @ values
            contexts.append(context)
            weights.append(rows_of_weights)
    extra = 0.0
    if rows > 1:  # Lin 2017, equation 8
        per_segment = [torch.cat(weights[i * rows:(i + 1) * rows]) for i in range(2)] if learned else weights
        extra = 0.1 * sum(((a @ a.T - torch.eye(rows)) ** 2).sum() for a in per_segment)
    finish(name, config, w, {"k": k, "v": v} | ({"q": q} if query else {}), torch.cat(contexts), weights, extra)
    cases[name]["training"] = training
    if rows > 1:
        cases[name]["penalty"] = extra.item()


SCORES = ["dot", "scaled_dot", "cosine", "general", "biased_general", "activated_general", "kernel", "concat",
          "additive", "deep", "location"]
for score in SCORES:
    for distribution in DISTRIBUTIONS:
        equal = score in ("dot", "scaled_dot", "cosine", "kernel")
        case(f"{score} {distribution}", score, distribution, 3 if equal else 2, 3, 2)
case("additive entmax 1.2", "additive", "entmax", 2, 3, 2, alpha=1.2)
case("kernel relu", "kernel", "softmax", 3, 3, 2, act="relu")
case("deep gelu", "deep", "softmax", 2, 3, 2, act="gelu")
case("hard at inference", "general", "softmax", 2, 3, 2, window="hard")
case("hard in training", "general", "softmax", 2, 3, 2, window="hard", training=True)
case("local_m", "general", "softmax", 2, 3, 2, window="local_m", half_width=1)
case("local_m sparsemax", "additive", "sparsemax", 2, 3, 2, window="local_m", half_width=1)
case("local_p", "general", "softmax", 2, 3, 2, window="local_p")
case("local_p entmax", "additive", "entmax", 2, 3, 2, window="local_p", half_width=1)
case("local_p location", "location", "softmax", 2, 3, 2, window="local_p", half_width=1)
# Yang 2016; Lin 2017 with its penalty; Shen 2018 with and without queries; Pavlopoulos 2017; learned queries.
case("pooling additive", "additive", "softmax", 0, 3, 2)
case("pooling additive rows", "additive", "softmax", 0, 3, 2, rows=2)
case("pooling dot rows", "scaled_dot", "softmax", 0, 3, 2, rows=2)
case("pooling by feature", "additive", "softmax", 0, 3, 2, by_feature=True)
case("pooling location by feature", "location", "sparsemax", 0, 3, 2, by_feature=True)
case("pooling concat", "concat", "entmax", 0, 3, 2)
case("pooling deep", "deep", "softmax", 0, 3, 2)
case("pooling location", "location", "softmax", 0, 3, 2)
case("pooling general", "general", "sparsemax", 0, 3, 2)
case("by feature additive", "additive", "softmax", 2, 3, 2, by_feature=True)
case("by feature concat", "concat", "sparsemax", 2, 3, 2, by_feature=True)
case("by feature deep", "deep", "softmax", 2, 3, 2, by_feature=True)

# Two heads of scaled dot products, by PyTorch's own layer; the segments of keys are masks there.
layer = torch.nn.MultiheadAttention(4, 2, kdim=3, vdim=2, batch_first=True)
with torch.no_grad():
    for weight in layer.parameters():
        weight.copy_(tensor(*weight.shape, scale=0.6))
q, k, v = inputs(4, 3, 2)
contexts, weights = [], []
for queries, keys, values in zip(split(q, Q_LENGTHS), split(k, K_LENGTHS), split(v, K_LENGTHS)):
    context, a = layer(queries[None], keys[None], values[None], average_attn_weights=False)
    contexts.append(context[0])
    weights.append(a[0])
y = torch.cat(contexts)
dy = tensor(*y.shape)
y.backward(dy)
named, grads = {}, {}
for i, part in enumerate(["query", "key", "value"]):
    weight = getattr(layer, f"{part[0]}_proj_weight")
    named[f"{part}.weight"], grads[f"{part}.weight"] = weight, weight.grad
    named[f"{part}.bias"] = layer.in_proj_bias[4 * i:4 * i + 4]
    grads[f"{part}.bias"] = layer.in_proj_bias.grad[4 * i:4 * i + 4]
named |= {"output.weight": layer.out_proj.weight, "output.bias": layer.out_proj.bias}
grads |= {"output.weight": layer.out_proj.weight.grad, "output.bias": layer.out_proj.bias.grad}
cases["heads scaled_dot"] = {
    "config": "score=scaled_dot query=4 key=3 value=2 heads=2 projected=4", "parameters": named, "gradients": grads,
    "q": q, "k": k, "v": v, "dq": q.grad, "dk": k.grad, "dv": v.grad, "dy": dy, "y": y, "training": False,
    "weights": torch.cat([a[0].reshape(-1) for a in weights]), "weights1": torch.cat([a[1].reshape(-1) for a in weights])}

# Parallel co-attention, Lu 2016, columns as in the paper.
for distribution in ("softmax", "sparsemax"):
    w = {"affinity.weight": parameter(3, 2), "a.weight": parameter(4, 3), "b.weight": parameter(4, 2),
         "a.out.weight": parameter(1, 4, scale=1), "b.out.weight": parameter(1, 4, scale=1)}
    a, b = parameter(3, 3, scale=1), parameter(8, 2, scale=1)
    ya, yb, weights_a, weights_b = [], [], [], []
    for rows_a, rows_b in zip(split(a, Q_LENGTHS), split(b, K_LENGTHS)):
        Q, V = rows_a.T, rows_b.T
        C = torch.tanh(Q.T @ w["affinity.weight"] @ V)
        Hv = torch.tanh(w["b.weight"] @ V + w["a.weight"] @ Q @ C)
        Hq = torch.tanh(w["a.weight"] @ Q + w["b.weight"] @ V @ C.T)
        av = DISTRIBUTIONS[distribution]((w["b.out.weight"] @ Hv)[0])
        aq = DISTRIBUTIONS[distribution]((w["a.out.weight"] @ Hq)[0])
        ya.append(Q @ aq)
        yb.append(V @ av)
        weights_a.append(aq)
        weights_b.append(av)
    ya, yb = torch.stack(ya), torch.stack(yb)
    dya, dyb = tensor(*ya.shape), tensor(*yb.shape)
    ((ya * dya).sum() + (yb * dyb).sum()).backward()
    cases[f"co-attention {distribution}"] = {
        "parameters": w, "gradients": gradients(w), "a": a, "b": b, "da": a.grad, "db": b.grad, "ya": ya, "yb": yb,
        "dya": dya, "dyb": dyb, "weights_a": torch.cat(weights_a), "weights_b": torch.cat(weights_b)}

# Words then sentences (Yang 2016): two documents of two and one sentences.
w = {}
for level, (key, hidden) in enumerate([(3, 4), (3, 2)]):
    for n, t in score_parameters("additive", 0, key, hidden).items():
        w[f"levels.{level}.score.{n}"] = t
x = parameter(7, 3, scale=1)
words, sentences = [3, 2, 2], [2, 1]


def level(number, keys):
    own = {n.removeprefix(f"levels.{number}.score."): t for n, t in w.items()}
    return attend("additive", "softmax", own, None, keys, keys)


pooled = [level(0, keys) for keys in split(x, words)]
vectors = torch.cat([context for context, _ in pooled])
documents = [level(1, keys) for keys in split(vectors, sentences)]
y = torch.cat([context for context, _ in documents])
dy = tensor(*y.shape)
y.backward(dy)
cases["multi-level"] = {"parameters": w, "gradients": gradients(w), "x": x, "dx": x.grad, "y": y, "dy": dy,
                        "weights0": torch.cat([a.reshape(-1) for _, a in pooled]),
                        "weights1": torch.cat([a.reshape(-1) for _, a in documents])}

# Dynamic meta-embeddings (Kiela 2018): three kinds of word vectors for four words.
widths, width = [2, 3, 4], 3
w = {"attention.score.weight": parameter(1, width), "attention.score.bias": parameter(1)}
for i, n in enumerate(widths):
    w |= {f"projections.{i}.weight": parameter(width, n), f"projections.{i}.bias": parameter(width)}
xs = [parameter(4, n, scale=1) for n in widths]
projected = torch.stack([x @ w[f"projections.{i}.weight"].T + w[f"projections.{i}.bias"] for i, x in enumerate(xs)], 1)
alphas = torch.softmax(projected @ w["attention.score.weight"][0] + w["attention.score.bias"], 1)
y = (alphas[:, :, None] * projected).sum(1)
dy = tensor(*y.shape)
y.backward(dy)
cases["representations"] = {"parameters": w, "gradients": gradients(w), "x": xs, "dx": [x.grad for x in xs], "y": y,
                            "dy": dy, "weights": alphas}

write("nn/attention.json", cases)
