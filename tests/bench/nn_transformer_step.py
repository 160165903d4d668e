"""A training step of a Transformer encoder in PyTorch, the peer of bench_nn_transformer: median seconds of
`steps` steps after two to warm up, and the most memory the process held. Debian's python3-torch.

    /usr/bin/python3 tests/bench/nn_transformer_step.py [STEPS] [THREADS]
"""

import json
import resource
import statistics
import sys
import time

import torch

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
torch.set_num_threads(threads)
torch.manual_seed(1)

layer = torch.nn.TransformerEncoderLayer(384, 12, dim_feedforward=1536, dropout=0.1, activation="gelu",
                                         layer_norm_eps=1e-12, batch_first=True)
encoder = torch.nn.TransformerEncoder(layer, 6)
head = torch.nn.Linear(384, 2)
weights = list(encoder.parameters()) + list(head.parameters())
optimizer = torch.optim.AdamW(weights, lr=1e-4)
x = torch.randn(16, 170, 384)
targets = torch.randint(0, 170, (16, 2))

seconds = []
for step in range(steps + 2):
    started = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    logits = head(encoder(x))
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2).reshape(32, 170), targets.reshape(32))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(weights, 1.0)
    optimizer.step()
    seconds.append(time.perf_counter() - started)
print(json.dumps({"peer": f"PyTorch {torch.__version__}", "threads": threads,
                  "median_s": round(statistics.median(seconds[2:]), 4), "least_s": round(min(seconds[2:]), 4),
                  "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
