#!/usr/bin/env python3
"""Joins work sheet and wordings into questions.jsonl, or verifies the gold answers of one against the facts.

Usage: questions/assemble.py join sheet.jsonl wordings.jsonl ... > rows.jsonl     wordings: {"id", "question"}
       questions/assemble.py verify ../questions.jsonl     (exit 1 when an answer no longer follows from the facts)
       questions/assemble.py refresh ../questions.jsonl > new.jsonl     (gold answers taken from today's facts)
"""
import json
import sys

from sample import P, Atlas, answers, load


def read(path):
    return [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]


def join(sheet, *wordings):
    words = {w["id"]: w["question"] for path in wordings for w in read(path)}
    for row in read(sheet):
        if not words.get(row["id"], "").strip():
            raise SystemExit(f"{row['id']}: no wording")
        item = {"id": row["id"], "lang": row["lang"], "split": row["split"], "question": words[row["id"]].strip(),
                "answers": row["answers"], "kind": row["kind"], "style": row["style"], "direction": row["direction"]}
        if "reason" in row:
            item["reason"] = row["reason"]
        for name in ("entity", "predicate"):
            if name in row:
                item[name] = row[name]["id"]
        for name in ("value", "asked_type"):
            if name in row:
                item[name] = row[name]
        yield item


def gold(atlas, row):
    """The answers that the facts give to a row, or None where the row has none to compute."""
    if row["kind"] == "none" or not row.get("predicate"):
        return None
    p, lang = row["predicate"], row["lang"]
    values = [o for _, o in atlas.by_predicate[p] if row.get("value") is not None and atlas.name(o, lang) == row["value"]]
    if row["direction"] == "forward":
        found = atlas.out[row["entity"]][p]
        if row["kind"] == "boolean":
            return ["true" if values and values[0] in found else "false"] if "value" in row else answers(found)
    else:
        found = sorted({s for o in values for s in atlas.into[o][p]})
    return [str(len(set(map(repr, found))))] if row["kind"] == "count" else answers(found)


def main():
    mode, *paths = sys.argv[1:]
    if mode == "join":
        rows = list(join(*paths))
    else:
        atlas, rows, wrong = Atlas(load()), read(paths[0]), 0
        for row in rows:
            now = gold(atlas, row)
            if row.get("reason") == "fact_missing" and atlas.out[row["entity"]].get(row["predicate"]):
                print(f"{row['id']}: the fact is there now", file=sys.stderr)
                wrong += 1
            if now is None or now == row["answers"]:
                continue
            wrong += 1
            if mode == "refresh":
                row["answers"] = now
            else:
                print(f"{row['id']}: the facts give other answers", file=sys.stderr)
        if mode == "verify":
            sys.exit(1 if wrong else 0)
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
