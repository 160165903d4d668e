#!/usr/bin/env python3
"""Makes kbqa_metrics.json: outcomes drawn by a seed, and the figures that metrics.h promises for them.

Written from the definitions alone, the slow way (area under the ROC curve by counting pairs, calibration by
sorting into bins, resamples by copying rows), with Python's standard library.

Usage: golden/kbqa_metrics.py > golden/kbqa_metrics.json
"""
import json
import math
import random
from fractions import Fraction

MASK = (1 << 64) - 1


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else None


def ece(answered):
    bins = {}
    for row in answered:
        bins.setdefault(min(int(row["confidence"] * 10), 9), []).append(row)
    if not answered:
        return None
    return sum(
        len(rows) / len(answered) * abs(mean(r["confidence"] for r in rows) - mean(float(r["right"]) for r in rows))
        for rows in bins.values())


def auroc(answered):
    good = [r["confidence"] for r in answered if r["right"]]
    bad = [r["confidence"] for r in answered if not r["right"]]
    if not good or not bad:
        return None
    wins = sum((2 if g > b else 1 if g == b else 0) for g in good for b in bad)
    return float(Fraction(wins, 2 * len(good) * len(bad)))


def figures(rows):
    answered = [r for r in rows if r["answered"]]
    stated = [r for r in rows if r["reason_stated"]]
    return {
        "hits_at_1": mean(float(r["right"]) for r in rows),
        "precision": mean(r["precision"] for r in rows),
        "recall": mean(r["recall"] for r in rows),
        "f1": mean(r["f1"] for r in rows),
        "answered": mean(float(r["answered"]) for r in rows),
        "wrong": mean(float(r["answered"] and not r["right"]) for r in rows),
        "declined": mean(float(not r["answered"]) for r in rows),
        "reason_accuracy": mean(float(r["reason_right"]) for r in stated),
        "ece": ece(answered),
        "auroc": auroc(answered),
        "brier": mean((r["confidence"] - r["right"]) ** 2 for r in answered),
    }


def quantile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def interval(values):
    values = [v for v in values if v is not None]
    return [quantile(values, 0.025), quantile(values, 0.975)] if values else None


def draw(random_source, n):
    return [random_source.below(n) for _ in range(n)]


def make_rows(rng, count, skill):
    rows = []
    for i in range(count):
        answerable = rng.random() < 0.85
        answered = rng.random() < (0.9 if answerable else 0.2)
        right = (rng.random() < skill) if answerable and answered else (not answerable and not answered)
        precision = recall = 1.0 if right else 0.0
        if answerable and answered:
            recall = 1.0 if right and rng.random() < 0.9 else rng.choice([0.0, 0.25, 0.5])
            precision = 1.0 if right else rng.choice([0.0, 0.0, 0.5])
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        # Few distinct confidences, so that ties are many.
        confidence = round(min(1.0, max(0.0, rng.gauss(0.8 if right else 0.6, 0.2))), 2) if answered else 0.0
        stated = not answerable
        rows.append({"answerable": answerable, "answered": answered, "right": right, "precision": precision,
                     "recall": recall, "f1": f1, "confidence": confidence, "reason_stated": stated,
                     "reason_right": stated and not answered and rng.random() < 0.7})
    return rows


def main():
    rng = random.Random(7)
    seed, resamples = 99, 200
    rows = make_rows(rng, 137, 0.8)
    other = make_rows(rng, 137, 0.9)
    source = SplitMix64(seed)
    drawn = [figures([rows[i] for i in draw(source, len(rows))]) for _ in range(resamples)]
    source = SplitMix64(seed)
    differences = []
    for _ in range(resamples):
        picked = draw(source, len(rows))
        a, b = figures([rows[i] for i in picked]), figures([other[i] for i in picked])
        differences.append({k: b[k] - a[k] for k in ("hits_at_1", "f1", "wrong", "declined")})
    value = figures(rows)
    print(json.dumps({
        "seed": seed, "resamples": resamples, "rows": rows, "other": other,
        "figures": value,
        "intervals": {k: interval([d[k] for d in drawn]) for k in value},
        "differences": {k: {"interval": interval([d[k] for d in differences]),
                            "p": min(1.0, 2 * min(sum(d[k] <= 0 for d in differences),
                                                  sum(d[k] >= 0 for d in differences)) / resamples)}
                        for k in differences[0]},
    }, indent=None, separators=(",", ":")))


main()
