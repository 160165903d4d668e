"""What the scripts that make golden values share. Needs Debian's python3-torch (run them with /usr/bin/python3).

Every case is computed in double precision by PyTorch, with gradients by its own automatic differentiation, and
written as JSON: {"name": {"tensor": {"shape": [...], "data": [...]}, "number": 1.5, ...}, ...}.
"""

import json
import pathlib

import torch

torch.set_default_dtype(torch.float64)

FOLDER = pathlib.Path(__file__).parent


def encode(value):
    if isinstance(value, torch.Tensor):
        return {"shape": list(value.shape), "data": [float(f"{x:.10g}") for x in value.detach().reshape(-1).tolist()]}
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    return value


def write(path, cases):
    target = FOLDER / path
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(encode(case), separators=(',', ':'))}" for name, case in cases.items()]
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{target.name}: {len(cases)} cases, {target.stat().st_size} bytes")


def tensor(*shape, scale=1.0):
    """Random numbers that follow the caller's torch.manual_seed, rounded so that the file holds them exactly."""
    return torch.round(torch.randn(*shape) * scale * 1e4) / 1e4


def parameter(*shape, scale=0.5):
    return tensor(*shape, scale=scale).requires_grad_()


def parameters_of(module, scale=0.5):
    """Random rounded weights for a PyTorch module; returns them by name."""
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(tensor(*weight.shape, scale=scale))
    return {name: weight.detach().clone() for name, weight in module.named_parameters()}


def gradients_of(module):
    return {name: weight.grad for name, weight in module.named_parameters()}
