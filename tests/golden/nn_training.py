"""Golden values of optimisers and gradient clipping: tests/golden/nn/training.json.

Six steps each of torch.optim on two small tensors, one with weight decay and one without, with gradients that are
functions of step and place written into the file.
"""

import torch

from golden import tensor, write

torch.manual_seed(11)
cases = {}
STEPS = 6

optimisers = {
    "sgd": lambda groups: torch.optim.SGD(groups, lr=0.1),
    "sgd_momentum": lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.9),
    "adagrad": lambda groups: torch.optim.Adagrad(groups, lr=0.1, eps=1e-10),
    "adam": lambda groups: torch.optim.Adam(groups, lr=0.05, betas=(0.8, 0.95), eps=1e-8),
    "adamw": lambda groups: torch.optim.AdamW(groups, lr=0.05, betas=(0.9, 0.999), eps=1e-6),
}
for name, make in optimisers.items():
    weight, bias = tensor(3, 4), tensor(5)
    start = {"w": weight.clone(), "b": bias.clone()}
    weight.requires_grad_()
    bias.requires_grad_()
    optimiser = make([{"params": [weight], "weight_decay": 0.1}, {"params": [bias], "weight_decay": 0.0}])
    steps = []
    for _ in range(STEPS):
        gradients = {"w": tensor(3, 4), "b": tensor(5)}
        weight.grad, bias.grad = gradients["w"].clone(), gradients["b"].clone()
        optimiser.step()
        steps.append({"gradients": gradients, "w": weight.detach().clone(), "b": bias.detach().clone()})
    cases[name] = {"parameters": start, "steps": steps}

# Sparse gradients: rows 1 and 3, then 3 and 0, ... of a table of five.
sparse = {
    "sparse_sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sparse_adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, eps=1e-10),
    # Without an epsilon SparseAdam's place for it does not matter.
    "sparse_adam": lambda p: torch.optim.SparseAdam(p, lr=0.05, betas=(0.8, 0.95), eps=1e-30),
}
for name, make in sparse.items():
    table = tensor(5, 3)
    start = table.clone()
    table.requires_grad_()
    optimiser = make([table])
    steps = []
    for rows in [[1, 3], [3, 0], [2], [1, 3], [0, 1, 2]]:
        values = tensor(len(rows), 3)
        table.grad = torch.sparse_coo_tensor(torch.tensor([rows]), values.clone(), (5, 3))
        optimiser.step()
        steps.append({"rows": rows, "values": values, "table": table.detach().clone()})
    cases[name] = {"table": start, "steps": steps}

x, y = tensor(4, 3, scale=3), tensor(7, scale=3)
before = {"x": x.clone(), "y": y.clone()}
x.grad, y.grad = x.clone(), y.clone()
norm = torch.nn.utils.clip_grad_norm_([x, y], 2.0)
cases["clip"] = {**before, "max_norm": 2.0, "norm": norm.item(), "x_after": x.grad, "y_after": y.grad}

write("nn/training.json", cases)
