#!/usr/bin/env python3
"""Fits the numbers of qa::TextRanking (qa/text_pipeline.h), and prints what they do.

    fit_text_ranking.py --askbase build/release/cli/askbase --data $DATA [--questions 700]

English: questions about the six articles of SQuAD's training set that models/en-reader was not trained on, asked over
all 44 articles. Chinese: those of CMRC 2018 trial, over the texts of trial, train and DRCD dev. A part of them is asked
again where the articles they are about are not loaded: every answer is wrong then. An answer counts as right with an F1
of 0.5 or more. Needs numpy.
"""
import argparse
import gzip
import json
import os
import random
import subprocess
import tempfile

import numpy as np

from answer_f1 import f1, tokens

HELD_OUT = {"Architecture", "Genome", "Canadian_Armed_Forces", "Spectre_(2015_film)", "Republic_of_the_Congo", "Solar_energy"}
SETS = {"en": ["squad-v1.1-train-du44"], "zh": ["cmrc2018-trial", "cmrc2018-train", "drcd-dev"]}


def read_sets(data, lang):
    """Documents (id, text, held out) and the questions about those held out."""
    documents, questions = [], []
    for number, name in enumerate(SETS[lang]):
        with gzip.open(os.path.join(data, "reader", name + ".json.gz"), "rt", encoding="utf-8") as file:
            for article in json.load(file)["data"]:
                held_out = article.get("title") in HELD_OUT if lang == "en" else number == 0
                for paragraph in article["paragraphs"]:
                    documents.append((str(len(documents)), paragraph["context"], held_out))
                    if held_out:
                        questions += [(q["question"].strip().replace("\n", " "), [a["text"] for a in q["answers"]])
                                      for q in paragraph["qas"]]
    random.Random(1).shuffle(questions)
    return documents, questions


def ask(askbase, folder, name, documents, questions, lang):
    path, kb = os.path.join(folder, name + ".jsonl"), os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        for number, text, _ in documents:
            out.write(json.dumps({"id": number, "text": text, "lang": lang}) + "\n")
    subprocess.run([askbase, "--kb", kb, "load", "--documents", path], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([askbase, "--kb", kb, "ask", "-", "--pipeline", "text", "--top", "100", "--min-confidence", "0", "--explain",
                           "--json", "--timeout-ms", "60000"], input="".join(q + "\n" for q, _ in questions), text=True,
                          check=True, stdout=subprocess.PIPE)
    return [json.loads(line).get("trace", {}).get("text", {}).get("passages", []) for line in done.stdout.splitlines()]


def groups(passages, lang, gap_weight):
    """Distinct answers, best first: (strength, text, passage)."""
    found = []
    for passage in passages:
        for span in passage["spans"]:
            p = min(max(span["confidence"], 1e-6), 1 - 1e-6)
            found.append((np.log(p / (1 - p)) - gap_weight * passage["gap"], passage["text"][span["start"]:span["end"]], passage))
    distinct = []
    for one in sorted(found, key=lambda one: -one[0]):
        key = " ".join(tokens(one[1], lang))
        others = [(" ".join(tokens(text, lang)), passage) for _, text, passage in distinct]
        if not any(key == other or (passage["document"] == one[2]["document"] and (key in other or other in key)) for other, passage in others):
            distinct.append(one)
    return distinct


def features(found, usual_meaning):
    """Of the best answer: 1, strength, -log(1 + rivals), share of words, cosine less the usual one."""
    strength, _, passage = found[0]
    rivals = sum(np.exp(other[0]) for other in found[1:])
    return [1, strength, -np.log1p(rivals), passage["covered"], passage["meaning"] - usual_meaning if "meaning" in passage else 0]


def logistic(x, y):
    w = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ w))
        w += np.linalg.solve(x.T * (p * (1 - p)) @ x + 1e-3 * np.eye(len(w)), x.T @ (y - p) - 1e-3 * w)
    return w


def report(lang, w, x, y, answerable):
    p = 1 / (1 + np.exp(-x @ w))
    bins = np.minimum((p * 10).astype(int), 9)
    ece = sum(abs(p[bins == i].mean() - y[bins == i].mean()) * (bins == i).mean() for i in range(10) if (bins == i).any())
    rank = np.argsort(np.argsort(p))
    ones = y.sum()
    auroc = (rank[y == 1].sum() - ones * (ones - 1) / 2) / (ones * (len(y) - ones))
    print(f"{lang}: ECE {ece:.3f}, AUROC {auroc:.3f}, Brier {((p - y) ** 2).mean():.3f}")
    for threshold in (0.3, 0.35, 0.4, 0.5):
        k = p >= threshold
        print(f"  from {threshold}: {k[answerable].mean():.3f} of the answerable answered, {y[k & answerable].mean():.3f} of them right; "
              f"{k[~answerable].mean():.3f} of the others answered")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--askbase", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--questions", type=int, default=700)
    arguments = parser.parse_args()
    ranking = {"gap": 1.0, "usual_meaning": 0.45, "weights": [-1.9, 0.8, 1.6, 3.2, 4.9]}  # as in qa/text_pipeline.h
    rows = {}
    for lang in SETS:
        documents, questions = read_sets(arguments.data, lang)
        questions = questions[:arguments.questions]
        again = questions[:arguments.questions * 3 // 7]
        with tempfile.TemporaryDirectory() as folder:
            full = ask(arguments.askbase, folder, "full", documents, questions, lang)
            without = ask(arguments.askbase, folder, "without", [one for one in documents if not one[2]], again, lang)
        for gap in (0, 0.5, 1, 1.5, 2):
            best = [groups(passages, lang, gap) for passages in full]
            scores = [f1(found[0][1], wanted, lang) if found else 0 for found, (_, wanted) in zip(best, questions)]
            print(f"{lang}: gap {gap}: F1 of the strongest answer {100 * np.mean(scores):.1f}")
        x, y, answerable = [], [], []
        for passages, (_, wanted), there in [(p, q, True) for p, q in zip(full, questions)] + [(p, q, False) for p, q in zip(without, again)]:
            found = groups(passages, lang, ranking["gap"])
            if found:
                x.append(features(found, ranking["usual_meaning"]))
                y.append(float(there and f1(found[0][1], wanted, lang) >= 0.5))
                answerable.append(there)
        rows[lang] = (np.array(x), np.array(y), np.array(answerable))
    both = logistic(np.vstack([rows[lang][0] for lang in rows]), np.concatenate([rows[lang][1] for lang in rows]))
    print("fitted: offset, own, rivals, covered, meaning:", np.round(both, 2))
    for lang, (x, y, answerable) in rows.items():
        report(lang, np.array(ranking["weights"]), x, y, answerable)


if __name__ == "__main__":
    main()
