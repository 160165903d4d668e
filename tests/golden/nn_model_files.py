"""Golden values of the model files: an own writer and reader of the safetensors format (struct and json alone), and
conversions of numbers by PyTorch. Writes tests/golden/nn/model_files.json and tests/golden/nn/*.safetensors.

With a file as argument it prints that file's tensors instead: python3 nn_model_files.py model.safetensors
"""

import json
import math
import struct
import sys

import torch

from golden import FOLDER

FORMATS = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B", "BF16": "H"}
WIDTH = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2, "I8": 1, "U8": 1}


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bf16_bits(value):
    return torch.tensor([value], dtype=torch.float32).to(torch.bfloat16).view(torch.int16).item() & 0xFFFF


def encode(dtype, values):
    values = [bf16_bits(v) for v in values] if dtype == "BF16" else values
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def write(path, tensors, metadata=None, padding=8, order=None):
    """tensors: {name: (dtype, shape, values)}, in the order they are to lie in the file."""
    header = {"__metadata__": metadata} if metadata else {}
    data = b""
    for name, (dtype, shape, values) in tensors.items():
        raw = encode(dtype, values)
        assert len(raw) == math.prod(shape) * WIDTH[dtype], name
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    if order:
        header = {name: header[name] for name in order}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % padding)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8:8 + length]), raw[8 + length:]
    print("metadata", header.pop("__metadata__", {}))
    for name, info in header.items():
        begin, end = info["data_offsets"]
        count = (end - begin) // WIDTH[info["dtype"]]
        values = struct.unpack(f"<{count}{FORMATS[info['dtype']]}", data[begin:end])
        print(name, info["dtype"], info["shape"], values[:4])


if len(sys.argv) > 1:
    read(sys.argv[1])
    sys.exit()

out = FOLDER / "nn"
# What askbase itself writes: wide numbers first, then by name; a header of a multiple of eight bytes.
canonical = {
    "ids": ("I64", [2], [-1, 1 << 40]),
    "encoder.weight": ("F32", [2, 3], [0.5, -1.25, 3.0, 1e-30, -2.0, 65504.0]),
    "scalar": ("F32", [], [7.0]),
    "brain": ("BF16", [3], [1.0, -3.140625, 0.00390625]),
    "half": ("F16", [2, 2], [1.0, -2.5, 6.103515625e-05, 5.960464477539063e-08]),
    "empty": ("I8", [0, 4], []),
    "零": ("I8", [2, 2], [-127, 0, 5, 127]),
}
write(out / "canonical.safetensors", canonical, {"format": "pt", "由": "struct"})
# Other writers: names in another order than the numbers, an odd header length, so that all numbers are misaligned.
everything = {
    "u8": ("U8", [3], [0, 7, 255]),
    "f32": ("F32", [2, 2], [1.5, -2.25, 0.0, 1e10]),
    "f64": ("F64", [2], [math.pi, -1e-3]),
    "i16": ("I16", [2], [-300, 300]),
    "bf16": ("BF16", [2], [0.1, -123.456]),
    "i32": ("I32", [1], [-70000]),
    "f16": ("F16", [5], [0.1, -0.0, 65504.0, 1e-7, 3.0]),
    "i64": ("I64", [1], [12345678901]),
    "i8": ("I8", [2], [-128, 127]),
}
write(out / "misaligned.safetensors", everything, padding=1, order=sorted(everything))
length = struct.unpack("<Q", (out / "misaligned.safetensors").read_bytes()[:8])[0]
assert length % 2 == 1, "choose another name: the header should have an odd length"

# Conversions: random bit patterns and the borders of rounding, as bits of float -> bits of half and bfloat16.
torch.manual_seed(7)
patterns = torch.randint(-(1 << 31), (1 << 31) - 1, (400,), dtype=torch.int64).to(torch.int32)
near = torch.randn(400).mul(3).view(torch.int32)
small = torch.randn(300).mul(2.0 ** -20).view(torch.int32)
borders = torch.tensor([0.0, -0.0, 65504.0, 65519.996, 65520.0, -65520.0, 2.0 ** -24, 2.0 ** -25, 1.5 * 2.0 ** -25,
                        2.0 ** -14, 1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11, 1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8, 3.4e38,
                        float("inf"), float("-inf")], dtype=torch.float32).view(torch.int32)
floats = torch.cat([patterns, near, small, borders])
floats = floats[~torch.isnan(floats.view(torch.float32))]
value = floats.view(torch.float32)
cases = {
    "floats": [int(x) & 0xFFFFFFFF for x in floats],
    "half": [int(x) & 0xFFFF for x in value.to(torch.float16).view(torch.int16)],
    "bfloat16": [int(x) & 0xFFFF for x in value.to(torch.bfloat16).view(torch.int16)],
}
# All 65,536 halves as floats, in one number each for NaN and the rest: a checksum of their bits.
halves = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.float16).to(torch.float32)
as_bits = halves.view(torch.int32).to(torch.int64) & 0xFFFFFFFF
finite = ~torch.isnan(halves)
cases["nans"] = int((~finite).sum())
checksum = 0
for b, ok in zip(as_bits.tolist(), finite.tolist()):
    if ok:
        checksum = (checksum * 31 + b) % (1 << 64)
cases["checksum"] = str(checksum)
cases["misaligned"] = {name: list(values) for name, (_, _, values) in everything.items()}
cases["misaligned"]["bf16"] = torch.tensor([0.1, -123.456]).to(torch.bfloat16).to(torch.float64).tolist()
cases["misaligned"]["f16"] = torch.tensor(everything["f16"][2]).to(torch.float16).to(torch.float64).tolist()

(out / "model_files.json").write_text(json.dumps(cases, separators=(",", ":"), ensure_ascii=False) + "\n")
print("model_files.json", (out / "model_files.json").stat().st_size, "bytes")
