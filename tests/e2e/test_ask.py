#!/usr/bin/env python3
"""Asking on the command line, in both languages, and questions that are none."""
import json

from support import Case, main

REASONS = {"entity_unknown", "ambiguous", "relation_unmatched", "fact_missing", "unsupported_question",
           "low_confidence", "nothing_loaded", "timeout"}


class Ask(Case):
    def setUp(self):
        super().setUp()
        self.load_cities()

    def test_both_languages(self):
        for question, answer in {
            "What is the capital of Freedonia?": "Fredville",
            "what's Sylvania's capital": "Sylburg",
            "弗里多尼亚的首都是哪里？": "弗雷德维尔",
            "西尔瓦尼亚的首都": "西尔堡",
            "弗裡多尼亞的首都是哪裡？": None,  # in Traditional script, the answer's name too
        }.items():
            with self.subTest(question):
                response = self.ask(question)
                self.assertTrue(response["answers"], response)
                best = response["answers"][0]
                if answer:
                    self.assertEqual(best["answer"], answer)
                self.assertIn(best["id"], ("urn:x:Fredville", "urn:x:Sylburg"))
                self.assertGreater(best["confidence"], 0.3)
                self.assertLessEqual(best["confidence"], 1)
                self.assertEqual(best["evidence"][0]["source"], "cities.ttl")
                self.assertTrue(best["sentence"])

    def test_human_output(self):
        out = self.askbase("ask", "What is the capital of Freedonia?").stdout
        lines = out.splitlines()
        self.assertEqual(lines[0], "Fredville")
        self.assertRegex(out, r"(?m)^  because: Freedonia · capital · Fredville  \[cities\.ttl")
        self.assertRegex(out, r"(?m)^  confidence: [01]\.\d\d$")
        self.assertNotIn("\x1b", out)
        out = self.askbase("ask", "弗里多尼亚的首都是哪里？").stdout
        self.assertEqual(out.splitlines()[0], "弗雷德维尔")
        self.assertIn("置信度", out)

    def test_no_answer_says_why(self):
        done = self.askbase("ask", "What is the capital of Atlantis?")
        self.assertRegex(done.stdout, r"^No answer \([a-z_]+\): .+")
        self.assertEqual(done.stderr, "")
        response = self.ask("What is the capital of Atlantis?")
        self.assertEqual(response["answers"], [])
        self.assertIn(response["reason"], REASONS)
        self.askbase("ask", "What is the capital of Atlantis?", "--fail-on-no-answer", status=1)
        self.askbase("ask", "What is the capital of Freedonia?", "--fail-on-no-answer", status=0)

    def test_lines_are_answered_in_order(self):
        questions = ["What is the capital of Freedonia?", "西尔瓦尼亚的首都是哪里？", "", "What is the capital of Atlantis?",
                     "What is the population of Sylburg?"]
        done = self.askbase("ask", "-", "--json", stdin="\n".join(questions) + "\n")
        responses = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([r["question"] for r in responses], questions)
        self.assertEqual(responses[0]["answers"][0]["answer"], "Fredville")
        self.assertEqual(responses[1]["answers"][0]["answer"], "西尔堡")
        self.assertEqual(responses[4]["answers"][0]["values"][0]["text"].replace(",", ""), "65432")

    def test_lines_that_are_no_questions_keep_their_place(self):
        done = self.askbase("ask", "-", "--json", status=1,
                            stdin=b"What is the capital of Freedonia?\n\xff\xfe\n" + b"x" * 3000 + b"\nwhat\n")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), 4)
        self.assertEqual((lines[1]["line"], lines[1]["error"]["code"]), (2, "bad_input"))
        self.assertEqual(lines[2]["error"]["code"], "too_large")
        self.assertIn("line 2: ", done.stderr)
        self.assertIn("question", lines[3])

    def test_questions_that_are_none(self):
        for question in [" ", "   \t ", "?", "😀🎉👨‍👩‍👧‍👦", "你好", "hello", "。。。", "a" * 1999, "的" * 1999, "[x]", "\u200b", "\u202e", "--",
                         "what what what what", "'\"; DROP TABLE", "\u0000x"[1:], "e\u0301" * 900]:
            with self.subTest(question[:20]):
                done = self.askbase("ask", "--json", "--", question, timeout=20)
                response = json.loads(done.stdout)
                self.assertEqual(response["question"], question)
                self.assertEqual(response["answers"], [])
                self.assertIn(response["reason"], REASONS)

    def test_empty_question(self):
        done = self.askbase("ask", "", "--json", status=None)
        self.assertIn(done.returncode, (0, 2))

    def test_question_of_a_megabyte(self):
        done = self.askbase("ask", "-", stdin=b"why " * 262144 + b"\n", status=1, timeout=30)
        self.assertIn("1048576 characters", done.stderr)
        self.askbase("ask", "-", stdin="为什么" * 350000, status=1, timeout=30)

    def test_a_line_of_a_hundred_megabytes_without_end(self):
        self.askbase("ask", "-", stdin=b"x" * 100_000_000, status=1, timeout=60)

    def test_limits_and_options(self):
        question = "What is the capital of Freedonia?"
        self.assertEqual(self.ask(question, "--min-confidence", "1")["answers"], [])
        self.assertEqual(self.answer(question, "--min-confidence", "0"), "Fredville")
        self.assertEqual(self.answer(question, "--pipeline", "kb"), "Fredville")
        self.assertIn("magic", self.refused("ask", question, "--pipeline", "kb,magic", status=2))
        explained = self.ask(question, "--explain")
        self.assertTrue(explained["timings_ms"])
        out = self.askbase("ask", question, "--explain").stdout
        self.assertRegex(out, r"(?m)^  total +[\d.]+ ms$")

    def test_pins_choose_among_namesakes(self):
        self.askbase("load", self.file("springfields.ttl", """
            @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
            <urn:x:s1> a <urn:x:City> ; rdfs:label "Springfield"@en ; <urn:x:p:population> 111 .
            <urn:x:s2> a <urn:x:City> ; rdfs:label "Springfield"@en ; <urn:x:p:population> 222 .
            """))
        question = "What is the population of Springfield?"
        open_question = self.ask(question)
        candidates = {c["id"] for a in open_question["ambiguous"] for c in a["candidates"]}
        self.assertEqual(candidates, {"urn:x:s1", "urn:x:s2"})
        self.assertIn("--pin 'Springfield=urn:x:s", self.askbase("ask", question).stdout)
        for id, number in {"urn:x:s1": "111", "urn:x:s2": "222"}.items():
            self.assertEqual(self.answer(question, "--pin", f"Springfield={id}"), number)

    def test_empty_kb(self):
        kb = self.path("empty")
        self.askbase("load", self.file("none.nt", ""), kb=kb)
        self.assertEqual(self.answer("What is the capital of Freedonia?", kb=kb), "nothing_loaded")


class Look(Case):
    def setUp(self):
        super().setUp()
        self.load_cities()

    def test_search(self):
        self.assertEqual(self.json("search", "freedonia")[0]["id"], "urn:x:Freedonia")
        self.assertEqual(self.json("search", "弗里多尼亚")[0]["id"], "urn:x:Freedonia")
        self.assertEqual(self.json("search", "fred town")[0]["id"], "urn:x:Fredville")
        self.assertEqual(self.json("search", "Fredvile")[0]["match"], "fuzzy")
        self.assertEqual(self.json("search", "qqqqqqq"), [])
        self.assertIn("Nothing is called", self.askbase("search", "qqqqqqq").stdout)
        self.assertLessEqual(len(self.json("search", "s", "--limit", "1")), 1)

    def test_show(self):
        for name in ["urn:x:Freedonia", "<urn:x:Freedonia>", "Freedonia", "弗里多尼亚", "FREEDONIA"]:
            shown = self.json("show", name)
            self.assertEqual(shown["id"], "urn:x:Freedonia")
        facts = {(f["predicate"], f["object"] if isinstance(f["object"], str) else f["object"]["value"]) for f in shown["facts"]}
        self.assertIn(("urn:x:p:capital", "urn:x:Fredville"), facts)
        self.assertEqual(shown["facts"][0]["origins"][0]["source"], "cities.ttl")
        self.assertEqual(self.json("show", "Fredville")["incoming"][0]["subject"], "urn:x:Freedonia")
        out = self.askbase("show", "Fredville", "--lang", "zh").stdout
        self.assertIn("弗雷德维尔", out)
        self.assertIn("askbase search", self.refused("show", "nobody"))
        self.assertLessEqual(len(self.json("show", "Freedonia", "--limit", "2")["facts"]), 2)

    def test_stats(self):
        stats = self.json("stats", "--predicates")
        self.assertEqual(stats["facts"], sum(p["facts"] for p in stats["by_predicate"]))
        self.assertEqual(stats["facts"], self.export().count("\n"))
        self.assertEqual(stats["sources"][0]["facts"], stats["facts"])
        self.assertGreater(stats["disk_bytes"], 0)
        self.assertIn("cities.ttl", self.askbase("stats").stdout)


if __name__ == "__main__":
    main()
