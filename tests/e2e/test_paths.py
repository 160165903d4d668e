#!/usr/bin/env python3
"""Questions whose answer lies several facts away: asked, trained for and measured from the command line."""
import json
import os
import shutil
import unittest

from support import SOURCE, Case, main

NAMES = ["Ada", "Boris", "Carla", "Dmitri", "Elsa", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Karin", "Lars", "Mona", "Nils",
         "Olga", "Pavel", "Rita", "Sven"]
TOWNS = ["Sollund", "Merrow", "Tarnby"]
# Question, path; each is asked of everybody.
PATTERNS = [("who is the dad of *", ["father"]), ("* was whose child", ["father"]), ("where did * come into the world", ["birthplace"]),
            ("in which town lay the cradle of *", ["birthplace"]), ("where did the dad of * come into the world", ["father", "birthplace"]),
            ("in which town lay the cradle of *'s dad", ["father", "birthplace"]), ("who is the grandad of *", ["father", "father"]),
            ("the dad of the dad of *", ["father", "father"]), ("name the brood of *", ["^father"]),
            ("where did the brood of * come into the world", ["^father", "birthplace"])]
SCHEMA = """\
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:f:p:father> rdfs:label "father"@en, "父亲"@zh .
<urn:f:p:birthplace> rdfs:label "birthplace"@en, "出生地"@zh .
<urn:f:p:country> rdfs:label "country"@en, "国家"@zh .
"""


def father(n):
    """Everybody but the first is somebody's child; two share a father."""
    return (n - 1) // 2 if n > 0 else None


def steps_from(n, path):
    """The people or towns at the end of a path."""
    ends = {f"urn:f:{NAMES[n]}"}
    facts = []
    for i, name in enumerate(NAMES):
        if father(i) is not None:
            facts.append((f"urn:f:{name}", "father", f"urn:f:{NAMES[father(i)]}"))
        facts.append((f"urn:f:{name}", "birthplace", f"urn:f:{TOWNS[i % 3]}"))
    for step in path:
        back = step.startswith("^")
        ends = {s if back else o for s, p, o in facts if p == step.lstrip("^") and (o if back else s) in ends}
    return sorted(ends)


class Paths(Case):
    def setUp(self):
        super().setUp()
        lines = [SCHEMA]
        for i, name in enumerate(NAMES):
            lines.append(f'<urn:f:{name}> rdfs:label "{name}"@en ; <urn:f:p:birthplace> <urn:f:{TOWNS[i % 3]}> .')
            if father(i) is not None:
                lines.append(f"<urn:f:{name}> <urn:f:p:father> <urn:f:{NAMES[father(i)]}> .")
        for town in TOWNS:
            lines.append(f'<urn:f:{town}> rdfs:label "{town}"@en ; <urn:f:p:country> <urn:f:Nordia> .')
        lines.append('<urn:f:Nordia> rdfs:label "Nordia"@en, "诺迪亚"@zh .')
        lines.append('<urn:f:Ada> rdfs:label "艾达"@zh . <urn:f:Boris> rdfs:label "鲍里斯"@zh . <urn:f:Sollund> rdfs:label "索伦德"@zh .')
        lines.append('<urn:f:Dmitri> rdfs:label "德米特里"@zh .')
        self.askbase("load", self.file("family.ttl", "\n".join(lines) + "\n"))

    def questions(self):
        rows = []
        for i, name in enumerate(NAMES):
            for question, path in PATTERNS:
                answers = steps_from(i, path)
                if answers:
                    rows.append({"id": f"q{len(rows)}", "lang": "en", "question": question.replace("*", name), "topic": [f"urn:f:{name}"],
                                 "topic_names": [name], "answers": answers,
                                 "path": [("^" if s.startswith("^") else "") + "urn:f:p:" + s.lstrip("^") for s in path]})
        return self.file("questions.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), rows

    def ends(self, evidence):
        return evidence["triple"]["subject"]["id"], evidence["triple"]["object"]["id"]

    def ranker(self, models, weights):
        os.makedirs(os.path.join(models, "kb-ranker"))
        with open(os.path.join(models, "kb-ranker", "config.json"), "w", encoding="utf-8") as out:
            json.dump({"format": 1, "kind": "kb-ranker", "en": weights, "zh": weights}, out)

    def test_trained_for_and_measured(self):
        data, rows = self.questions()
        models = self.path("models")
        self.ranker(models, {"fits": 10, "link": 2, "missing": -100})
        trained = self.json("train", "matcher", "--path-data", f"{self.kb}:{data}", "--dimensions", "24", "--hidden", "16", "--buckets",
                            "256", "--batch", "16", "--hard", "8", "--epochs", "40", "--rate", "0.01", "--threads", "1",
                            "--out", os.path.join(models, "en-matcher"))
        self.assertEqual(trained["left_out"], 0)
        self.assertGreater(trained["valid"], 0)
        with open(os.path.join(models, "en-matcher", "config.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["steps"], 2)
        with open(os.path.join(models, "en-matcher", "README.md"), encoding="utf-8") as file:
            self.assertIn("--path-data", file.read())

        out = self.path("out.jsonl")
        evaluate = ["--models", models, "eval", "paths", "--data", data]
        test = self.json(*evaluate, "--out", out)
        self.assertGreaterEqual(test["hits_at_1"], 0.7)
        self.assertEqual(len(test["hits_at_1_ci"]), 2)
        # It knows the names and the words, so it is right now and then.
        self.assertGreater(test["baseline_hits_at_1"], 0.2)
        self.assertEqual(sum(part["questions"] for part in test["by_hops"].values()), test["questions"])
        with open(out, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertAlmostEqual(sum(line["hit"] for line in lines) / len(lines), test["hits_at_1"], 5)
        gold = {row["id"]: row for row in rows}
        for line in lines:
            self.assertEqual(line["hit"], line["first"] in gold[line["id"]]["answers"])
        # The three parts are all of the questions, none in two of them, and each seed has its own.
        parts = {part: self.json(*evaluate, "--split", part)["questions"] for part in ["train", "valid"]}
        self.assertEqual(parts["train"] + parts["valid"] + test["questions"], len(rows))
        self.assertEqual((trained["train"], trained["valid"]), (parts["train"], parts["valid"]))
        self.json(*evaluate, "--split-seed", "7", "--out", out)
        with open(out, encoding="utf-8") as file:
            self.assertNotEqual({json.loads(line)["id"] for line in file}, {line["id"] for line in lines})
        one = self.json(*evaluate, "--hops", "1", "--no-baseline")
        self.assertNotIn("baseline_hits_at_1", one)
        self.assertEqual(one["questions"], test["by_hops"]["1"]["questions"])

        # Words of no predicate, steps in both directions; the shorter question stops earlier.
        answer = self.ask("where did the brood of Ada come into the world", "--models", models, "--min-confidence", "0")["answers"][0]
        self.assertEqual({value["id"] for value in answer["values"]}, {"urn:f:Merrow", "urn:f:Tarnby"})
        self.assertEqual(self.ends(answer["evidence"][0])[1], "urn:f:Ada")
        answer = self.ask("name the brood of Ada", "--models", models, "--min-confidence", "0")["answers"][0]
        self.assertEqual({value["id"] for value in answer["values"]}, {"urn:f:Boris", "urn:f:Carla"})

    def test_words_that_say_each_step(self):
        models = self.path("models")
        for name in ["en-matcher", "zh-matcher"]:
            shutil.copytree(os.path.join(SOURCE, "models", name), os.path.join(models, name))
        self.ranker(models, {"bias": -3.2, "coverage": 3.4, "unexplained": -4.6, "text_cover": 1.8, "relation": 0.4, "link": 3.0,
                             "expected": 1.2, "head_class": 1.3, "direction": 1.0, "partial_name": -5.0, "missing": -0.6,
                             "head_noun": -2.0, "exact_text": 0.6, "unused_name": -1.5, "matched": 1.0, "fits": 1.0})
        for question, text, sentence in [
                ("What is the birthplace of the father of Dmitri?", "Merrow", "The birthplace of the father of Dmitri is Merrow."),
                ("What is the country of the birthplace of the father of Dmitri?", "Nordia",
                 "The country of the birthplace of the father of Dmitri is Nordia."),
                ("鲍里斯的父亲的出生地是哪里？", "索伦德", "鲍里斯的父亲的出生地是索伦德。"),
                ("鲍里斯的父亲的出生地的国家是什么？", "诺迪亚", "鲍里斯的父亲的出生地的国家是诺迪亚。"),
                ("What is the birthplace of Dmitri?", "Sollund", "The birthplace of Dmitri is Sollund.")]:
            with self.subTest(question):
                answer = self.ask(question, "--models", models)["answers"][0]
                self.assertEqual(answer["answer"], text)
                self.assertEqual(answer["sentence"], sentence)
        # Each step is evidence, in order; without models only single facts answer.
        question = "What is the birthplace of the father of Dmitri?"
        evidence = self.ask(question, "--models", models)["answers"][0]["evidence"]
        self.assertEqual([self.ends(fact) for fact in evidence],
                         [("urn:f:Dmitri", "urn:f:Boris"), ("urn:f:Boris", "urn:f:Merrow")])

    def test_an_entity_with_very_many_facts(self):
        models = self.path("models")
        shutil.copytree(os.path.join(SOURCE, "models", "en-matcher"), os.path.join(models, "en-matcher"))
        self.ranker(models, {"coverage": 3.4, "unexplained": -4.6, "text_cover": 1.8, "link": 3.0, "matched": 1.0, "missing": -1.0})
        more = "".join(f"<urn:f:visitor{i}> <urn:f:p:birthplace> <urn:f:Sollund> .\n" for i in range(60000))
        self.askbase("load", self.file("more.nt", more))
        response = self.ask("What is the birthplace of the father of Boris?", "--models", models, "--min-confidence", "0")
        self.assertEqual(response["answers"][0]["answer"], "Sollund")
        response = self.ask("What is the father of those whose birthplace is Sollund?", "--models", models, "--min-confidence", "0")
        self.assertNotEqual(response.get("reason"), "timeout")

    def test_refusals(self):
        data, _ = self.questions()
        self.assertIn("KB:FILE", self.refused("train", "matcher", "--path-data", data, "--out", self.path("m"), status=2))
        other = self.file("other.jsonl", json.dumps({"id": "1", "question": "x", "topic": ["urn:f:Nobody"], "path": ["urn:f:p:father"],
                                                     "answers": ["urn:f:Ada"], "lang": "en", "split": "train"}) + "\n")
        self.assertIn("no question", self.refused("train", "matcher", "--path-data", f"{self.kb}:{other}", "--out", self.path("m")))
        self.assertIn("no question of the part test", self.refused("eval", "paths", "--data", other))


if __name__ == "__main__":
    main()
