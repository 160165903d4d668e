"""Golden values of LSTM and GRU: tests/golden/nn/recurrent.json.

Plain cells are PyTorch's modules over packed sequences; peepholes and coupled gates, which PyTorch does not have,
are written out here step by step and differentiated by it. States are (sequences, layers * directions * hidden).
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from golden import gradients_of, parameter, parameters_of, tensor, write

torch.manual_seed(3)
cases = {}


def rows_of(states):
    """(layers * directions, batch, hidden) -> (batch, layers * directions * hidden)"""
    return states.permute(1, 0, 2).reshape(states.shape[1], -1)


def case_of_module(module, lengths, initial):
    weights = parameters_of(module)
    lstm = isinstance(module, torch.nn.LSTM)
    directions = 2 if module.bidirectional else 1
    shape = (module.num_layers * directions, len(lengths), module.hidden_size)
    x = parameter(sum(lengths), module.input_size, scale=1)
    h0, c0 = parameter(*shape), parameter(*shape)
    padded = pad_sequence(torch.split(x, lengths), batch_first=True)
    packed = pack_padded_sequence(padded, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    states = ((h0, c0) if lstm else h0) if initial else None
    out, last = module(packed, states)
    h, c = last if lstm else (last, None)
    out = pad_packed_sequence(out, batch_first=True)[0]
    y = torch.cat([out[i, :n] for i, n in enumerate(lengths)])
    dy, dh, dc = tensor(*y.shape), tensor(*shape), tensor(*shape)
    loss = (y * dy).sum() + (h * dh).sum() + ((c * dc).sum() if lstm else 0)
    loss.backward()
    case = {"kind": "lstm" if lstm else "gru", "input": module.input_size, "hidden": module.hidden_size,
            "layers": module.num_layers, "bidirectional": module.bidirectional, "peepholes": False, "coupled": False,
            "lengths": lengths, "parameters": weights, "x": x, "y": y, "h": rows_of(h), "dy": dy, "dh": rows_of(dh),
            "dx": x.grad, "gradients": gradients_of(module)}
    if lstm:
        case |= {"c": rows_of(c), "dc": rows_of(dc)}
    if initial:
        case |= {"h0": rows_of(h0), "dh0": rows_of(h0.grad)}
        if lstm:
            case |= {"c0": rows_of(c0), "dc0": rows_of(c0.grad)}
    return case


def run_lstm(x, h, c, w, suffix, coupled, peepholes):
    """One sequence through one direction; the states after every element, and the last ones."""
    hs = []
    for row in x:
        z = (w["weight_ih" + suffix] @ row + w["bias_ih" + suffix] + w["weight_hh" + suffix] @ h
             + w["bias_hh" + suffix])
        *i, f, g, o = z.chunk(3 if coupled else 4)
        if peepholes:
            f = f + w["peephole_f" + suffix] * c
        f = torch.sigmoid(f)
        if coupled:
            i = 1 - f
        else:
            i = torch.sigmoid(i[0] + w["peephole_i" + suffix] * c if peepholes else i[0])
        c = f * c + i * torch.tanh(g)
        o = torch.sigmoid(o + w["peephole_o" + suffix] * c if peepholes else o)
        h = o * torch.tanh(c)
        hs.append(h)
    return torch.stack(hs) if hs else x.new_zeros(0, len(h)), h, c


def case_by_hand(inputs, hidden, lengths, coupled, peepholes):
    gates = 3 if coupled else 4
    w = {}
    for suffix in ("_l0", "_l0_reverse"):
        w |= {"weight_ih" + suffix: parameter(gates * hidden, inputs),
              "weight_hh" + suffix: parameter(gates * hidden, hidden),
              "bias_ih" + suffix: parameter(gates * hidden), "bias_hh" + suffix: parameter(gates * hidden)}
        if peepholes:
            w |= {"peephole_" + gate + suffix: parameter(hidden) for gate in ("fo" if coupled else "ifo")}
    x = parameter(sum(lengths), inputs, scale=1)
    h0, c0 = parameter(len(lengths), 2 * hidden), parameter(len(lengths), 2 * hidden)
    ys, hs, cs = [], [], []
    for i, sequence in enumerate(torch.split(x, lengths)):
        y, h, c = run_lstm(sequence, h0[i, :hidden], c0[i, :hidden], w, "_l0", coupled, peepholes)
        back = run_lstm(sequence.flip(0), h0[i, hidden:], c0[i, hidden:], w, "_l0_reverse", coupled, peepholes)
        ys.append(torch.cat([y, back[0].flip(0)], dim=1))
        hs.append(torch.cat([h, back[1]]))
        cs.append(torch.cat([c, back[2]]))
    y, h, c = torch.cat(ys), torch.stack(hs), torch.stack(cs)
    dy, dh, dc = tensor(*y.shape), tensor(*h.shape), tensor(*c.shape)
    ((y * dy).sum() + (h * dh).sum() + (c * dc).sum()).backward()
    return {"kind": "lstm", "input": inputs, "hidden": hidden, "layers": 1, "bidirectional": True,
            "peepholes": peepholes, "coupled": coupled, "lengths": lengths, "parameters": w, "x": x, "h0": h0, "c0": c0,
            "y": y, "h": h, "c": c, "dy": dy, "dh": dh, "dc": dc, "dx": x.grad, "dh0": h0.grad, "dc0": c0.grad,
            "gradients": {name: value.grad for name, value in w.items()}}


for name, kind in {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.items():
    cases[name + ", one direction"] = case_of_module(kind(3, 11), [2, 5], False)
    cases[name + ", stacked, both directions"] = case_of_module(
        kind(2, 3, num_layers=3, bidirectional=True), [2, 4, 1, 4, 3], True)
cases["lstm by hand"] = case_by_hand(2, 3, [3, 0, 1, 4], False, False)
cases["peepholes"] = case_by_hand(2, 9, [3, 0, 1, 4], False, True)
cases["coupled"] = case_by_hand(2, 9, [3, 0, 1, 4], True, False)
cases["coupled with peepholes"] = case_by_hand(3, 5, [2, 2, 0], True, True)

write("nn/recurrent.json", cases)
