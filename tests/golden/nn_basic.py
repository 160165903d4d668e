"""Golden values of linear, activations, softmax and losses: tests/golden/nn/basic.json."""

import torch
import torch.nn.functional as F

from golden import gradients_of, parameter, parameters_of, tensor, write

torch.manual_seed(1)
cases = {}

linear = torch.nn.Linear(5, 3)
weights = parameters_of(linear)
x = parameter(4, 5)
dy = tensor(4, 3)
y = linear(x)
y.backward(dy)
cases["linear"] = {"parameters": weights, "x": x, "dy": dy, "y": y, "dx": x.grad, "gradients": gradients_of(linear)}

for name, function in {"relu": F.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "gelu": F.gelu}.items():
    x = parameter(3, 7, scale=2.5)
    dy = tensor(3, 7)
    y = function(x)
    y.backward(dy)
    cases[name] = {"x": x, "dy": dy, "y": y, "dx": x.grad}

mask = torch.tensor([[1, 1, 0, 1, 1], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
for name, function in {"softmax": torch.softmax, "log_softmax": torch.log_softmax}.items():
    x = parameter(3, 5, scale=3)
    dy = tensor(3, 5) * mask
    y = function(x.masked_fill(mask == 0, float("-inf")), dim=1)
    y.masked_fill(mask == 0, 0.0).backward(dy)
    cases[name] = {"x": x, "mask": mask, "dy": dy, "y": y.masked_fill(mask == 0, 0.0), "dx": x.grad}

x = parameter(4, 6, scale=2)
targets = torch.tensor([2, -1, 5, 0])
loss = F.cross_entropy(x, targets, ignore_index=-1, reduction="sum")
loss.backward()
cases["cross_entropy"] = {"x": x, "targets": targets.tolist(), "loss": loss.item(), "dx": x.grad}

positive, negative = parameter(6, scale=1), parameter(6, scale=1)
loss = F.margin_ranking_loss(positive, negative, torch.ones(6), margin=0.7, reduction="sum")
loss.backward()
cases["margin_ranking"] = {"positive": positive, "negative": negative, "margin": 0.7, "loss": loss.item(),
                           "d_positive": positive.grad, "d_negative": negative.grad}

write("nn/basic.json", cases)
