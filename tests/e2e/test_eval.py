#!/usr/bin/env python3
"""eval kbqa and eval compare over a small knowledge base."""
import json

from support import Case, main

QUESTIONS = [
    {"id": "1", "lang": "en", "question": "What is the capital of Freedonia?", "answers": ["urn:x:Fredville"], "kind": "single", "split": "dev"},
    {"id": "2", "lang": "zh", "question": "西尔瓦尼亚的首都是哪里？", "answers": ["西尔堡"], "kind": "single", "split": "test"},
    {"id": "3", "lang": "en", "question": "What is the population of Sylburg?", "answers": ["65432"], "kind": "single", "split": "test"},
    {"id": "4", "lang": "en", "question": "What is the capital of Atlantis?", "answers": [], "kind": "unanswerable", "split": "test",
     "reason": "entity_unknown"},
    {"id": "5", "lang": "en", "question": "What is the capital of Sylvania?", "answers": ["urn:x:Nowhere"], "kind": "single", "split": "dev"},
]
METRICS = ["hits_at_1", "precision", "recall", "f1", "answered", "wrong", "declined", "reason_accuracy", "ece", "auroc", "brier"]


class Eval(Case):
    def setUp(self):
        super().setUp()
        self.load_cities()
        self.data = self.file("q.jsonl", "".join(json.dumps(q, ensure_ascii=False) + "\n" for q in QUESTIONS))

    def test_figures(self):
        report = self.json("eval", "kbqa", "--data", self.data)
        self.assertEqual(report["questions"], 5)
        self.assertAlmostEqual(report["hits_at_1"], 0.8)
        self.assertAlmostEqual(report["wrong"], 0.2)
        self.assertAlmostEqual(report["declined"], 0.2)
        self.assertAlmostEqual(report["answered"], 0.8)
        self.assertAlmostEqual(report["f1"], 0.8)
        self.assertEqual(report["reason_accuracy"], 1)
        for name in METRICS + ["baseline_hits_at_1"]:
            self.assertIn(name, report)
            low, high = report[name + "_ci"]
            self.assertLessEqual(low, report[name] + 1e-6)
            self.assertGreaterEqual(high, report[name] - 1e-6)
        self.assertEqual(report["by_lang"]["zh"]["questions"], 1)
        self.assertEqual(report["by_kind"]["unanswerable"]["hits_at_1"], 1)
        again = self.json("eval", "kbqa", "--data", self.data, "--threads", "1")
        for name in METRICS:
            self.assertEqual(report[name + "_ci"], again[name + "_ci"])

    def test_filters(self):
        self.assertEqual(self.json("eval", "kbqa", "--data", self.data, "--split", "test")["questions"], 3)
        self.assertEqual(self.json("eval", "kbqa", "--data", self.data, "--lang", "zh")["questions"], 1)
        self.assertEqual(self.json("eval", "kbqa", "--data", self.data, "--limit", "2")["questions"], 2)
        self.assertIn("train", self.refused("eval", "kbqa", "--data", self.data, "--split", "train"))
        self.assertIn("bad.jsonl:1", self.refused("eval", "kbqa", "--data", self.file("bad.jsonl", "{}\n")))

    def test_test_questions_stay_unseen(self):
        out = self.askbase("eval", "kbqa", "--data", self.data, "--split", "test", "--report", self.path("r.html"))
        with open(self.path("r.html"), encoding="utf-8") as page:
            everything = out.stdout + out.stderr + page.read()
        for question in QUESTIONS:
            self.assertNotIn(question["question"], everything)
        self.assertIn("<svg", everything)

    def test_predictions_and_comparison(self):
        a, b = self.path("a.jsonl"), self.path("b.jsonl")
        self.askbase("eval", "kbqa", "--data", self.data, "--out", a)
        with open(a, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        self.assertEqual([row["id"] for row in rows], ["1", "2", "3", "4", "5"])
        self.assertEqual([row["right"] for row in rows], [True, True, True, True, False])
        self.assertEqual(rows[0]["answers"][0]["id"], "urn:x:Fredville")
        self.assertEqual(rows[3]["reason"], "entity_unknown")
        self.askbase("eval", "kbqa", "--data", self.data, "--out", b, "--min-confidence", "1")
        report = self.json("eval", "compare", a, b)
        self.assertEqual(report["questions"], 5)
        self.assertLess(report["hits_at_1"]["difference"], 0)
        self.assertEqual(report["hits_at_1"]["a"], 0.8)
        same = self.json("eval", "compare", a, a)
        self.assertEqual(same["hits_at_1"]["difference"], 0)
        self.assertEqual(same["hits_at_1"]["p"], 1)
        self.assertIn("q.jsonl:1", self.refused("eval", "compare", a, self.data))
        self.assertIn("B - A", self.askbase("eval", "compare", a, b).stdout)


if __name__ == "__main__":
    main()
