#!/usr/bin/env python3
"""Open reading: questions of SQuAD v1.1 dev asked over all of its paragraphs, not over their own.

    open_reading.py --askbase build/release/cli/askbase --data $DATA [--questions 2000] [--passages 10000]

Prints exact match and F1 (the official metric, 95 % bootstrap intervals) of the strongest answer, however sure, over the
2,067 paragraphs; and the milliseconds of an answer over --passages passages, the rest of which are texts of SQuAD's
training set. Only totals are printed.
"""
import argparse
import gzip
import json
import os
import random
import subprocess
import tempfile

from answer_f1 import f1, tokens


def read_squad(data, name):
    with gzip.open(os.path.join(data, "reader", name + ".json.gz"), "rt", encoding="utf-8") as file:
        paragraphs = [paragraph for article in json.load(file)["data"] for paragraph in article["paragraphs"]]
    texts = list(dict.fromkeys(paragraph["context"] for paragraph in paragraphs))
    questions = [(q["question"].strip().replace("\n", " "), [a["text"] for a in q["answers"]])
                 for paragraph in paragraphs for q in paragraph["qas"]]
    return texts, questions


def load(askbase, kb, texts):
    path = kb + ".jsonl"
    with open(path, "w", encoding="utf-8") as out:
        for number, text in enumerate(texts):
            out.write(json.dumps({"id": str(number), "text": text, "lang": "en"}) + "\n")
    subprocess.run([askbase, "--kb", kb, "load", "--documents", path], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    done = subprocess.run([askbase, "--kb", kb, "stats", "--documents", "--json"], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def ask(askbase, kb, questions):
    done = subprocess.run([askbase, "--kb", kb, "ask", "-", "--pipeline", "text", "--top", "1", "--min-confidence", "0", "--json",
                           "--timeout-ms", "60000"], input="".join(q + "\n" for q, _ in questions), text=True, check=True,
                          stdout=subprocess.PIPE)
    responses = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(responses) == len(questions), "a line for each question"
    return responses


def interval(values):
    draw = random.Random(1)
    means = sorted(sum(draw.choices(values, k=len(values))) / len(values) for _ in range(1000))
    return f"{100 * sum(values) / len(values):.1f} [{100 * means[25]:.1f}, {100 * means[974]:.1f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--askbase", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--passages", type=int, default=10000)
    arguments = parser.parse_args()
    texts, questions = read_squad(arguments.data, "squad-v1.1-dev")
    random.Random(1).shuffle(questions)
    questions = questions[:arguments.questions]
    with tempfile.TemporaryDirectory() as folder:
        load(arguments.askbase, os.path.join(folder, "dev"), texts)
        responses = ask(arguments.askbase, os.path.join(folder, "dev"), questions)
        said = [r["answers"][0]["answer"] if r["answers"] else None for r in responses]
        scores = [f1(s, answers) if s is not None else 0.0 for s, (_, answers) in zip(said, questions)]
        exact = [float(s is not None and any(tokens(s) == tokens(right) for right in answers))
                 for s, (_, answers) in zip(said, questions)]
        print(f"{len(texts)} paragraphs, {len(questions)} questions: exact match {interval(exact)}, F1 {interval(scores)}, "
              f"no answer {said.count(None)}")

        filler, _ = read_squad(arguments.data, "squad-roundtrip-train")
        known = set(texts)
        many = texts + [text for text in filler if text not in known][:max(0, arguments.passages - len(texts))]
        stats = load(arguments.askbase, os.path.join(folder, "many"), many)
        times = sorted(r["timings_ms"]["total"] for r in ask(arguments.askbase, os.path.join(folder, "many"), questions[:500]))
        print(f"{stats['documents']['passages']} passages of {len(many)} documents: ms of an answer, "
              f"median {times[len(times) // 2]:.1f}, 95 % {times[len(times) * 95 // 100]:.1f}")


if __name__ == "__main__":
    main()
