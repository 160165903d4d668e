"""Golden values of the embedding: tests/golden/nn/embedding.json."""

import torch

from golden import gradients_of, parameters_of, tensor, write

torch.manual_seed(4)

embedding = torch.nn.Embedding(7, 3)
weights = parameters_of(embedding)
ids = torch.tensor([4, 0, 6, 4, 4, 1])
dy = tensor(6, 3)
y = embedding(ids)
y.backward(dy)
write("nn/embedding.json", {"embedding": {"parameters": weights, "ids": ids.tolist(), "dy": dy, "y": y,
                                          "gradients": gradients_of(embedding)}})
