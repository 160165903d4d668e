#!/usr/bin/env python3
"""Answers from documents with the models that ship: on the command line, over HTTP, and in a text that comes along."""
import json
import os
import re
import shutil
import time

from support import SOURCE, Case, main

MODELS = os.path.join(SOURCE, "models")
MOBY = "🐋 Moby-Dick is a novel by Herman Melville. It was published in 1851. The story is told by Ishmael."
WHALES = "Annual report 1\n\nWhales live in the sea.\n\n\fAnnual report 2\n\n😀 The harbour of Freedonia was built by Ada Love-\nlace in 1843.\n"
DREAM = "《红楼梦》是清代作家曹雪芹创作的长篇小说。😀后四十回由高鹗续写。"


class Text(Case):
    def setUp(self):
        super().setUp()
        self.texts = {"moby": MOBY, "dream": DREAM}

    def command(self, *args, kb=None):
        return super().command(*(() if "--models" in args else ("--models", MODELS)), *args, kb=kb)

    def load_documents(self):
        lines = [{"id": "moby", "title": "Moby-Dick", "url": "https://example.org/moby", "text": MOBY}, {"id": "dream", "text": DREAM}]
        self.askbase("load", "--documents", self.file("books.jsonl", "".join(json.dumps(one) + "\n" for one in lines)))
        self.askbase("load", "--documents", self.file("report.txt", WHALES))
        self.texts["report.txt"] = WHALES

    def check_evidence(self, answer):
        """Every offset holds, in code points and in UTF-16."""
        self.assertEqual((answer["kind"], answer["pipeline"]), ("span", "text"))
        self.assertGreater(answer["confidence"], 0)
        self.assertLess(answer["confidence"], 1)
        self.assertTrue(answer["evidence"])
        for one in answer["evidence"]:
            text, sentence = self.texts[one["document"]], one["sentence"]
            for whole, place in ((text, one), (sentence["text"], sentence)):
                said = whole[place["start"]:place["end"]]
                units = whole.encode("utf-16-le")[2 * place["start_utf16"]:2 * place["end_utf16"]]
                self.assertEqual(units.decode("utf-16-le"), said)
                self.assertEqual(said.replace("-\n", "").casefold(), answer["answer"].casefold())
            self.assertIn(sentence["text"], one["passage"])
        self.assertEqual(answer["sentence"], answer["evidence"][0]["sentence"]["text"])

    def test_both_languages(self):
        self.load_documents()
        for question, answer, document in (("Who wrote Moby-Dick?", "Herman Melville", "moby"),
                                           ("When was Moby-Dick published?", "1851", "moby"),
                                           ("谁创作了《红楼梦》？", "曹雪芹", "dream"),
                                           ("Who built the harbour of Freedonia?", "Ada Lovelace", "report.txt")):
            for pipeline in ((), ("--pipeline", "text"), ("--pipeline", "kb,text")):
                with self.subTest(question, pipeline=pipeline):
                    response = self.ask(question, *pipeline)
                    self.assertTrue(response["answers"], response)
                    best = response["answers"][0]
                    self.assertEqual(best["answer"], answer)
                    self.check_evidence(best)
                    self.assertEqual(best["evidence"][0]["document"], document)
        moby = self.ask("Who wrote Moby-Dick?")["answers"][0]["evidence"][0]
        self.assertEqual((moby["title"], moby["url"], moby["source"]), ("Moby-Dick", "https://example.org/moby", "books.jsonl"))
        self.assertNotIn("page", moby)
        self.assertEqual(self.ask("Who built the harbour of Freedonia?")["answers"][0]["evidence"][0]["page"], 2)
        for answer in self.ask("Who wrote Moby-Dick?", "--top", "9", "--min-confidence", "0")["answers"]:
            self.check_evidence(answer)
        self.assertEqual(self.answer("《红楼梦》 Moby-Dick?", "--lang", "en", "--timeout-ms", "1"), "timeout")

    def test_human_output(self):
        self.load_documents()
        out = self.askbase("ask", "Who wrote Moby-Dick?").stdout
        self.assertEqual(out.splitlines()[:3], ["Herman Melville", "  🐋 Moby-Dick is a novel by «Herman Melville».",
                                                "  because: Moby-Dick (moby), 26-41, https://example.org/moby"])
        self.assertRegex(out, r"(?m)^  confidence: 0\.\d\d$")
        self.assertNotIn("\x1b", out)
        out = self.askbase("ask", "Who built the harbour of Freedonia?").stdout
        self.assertRegex(out, r"(?m)^  because: report\.txt, page 2, \d+-\d+$")
        out = self.askbase("ask", "谁创作了《红楼梦》？").stdout
        self.assertIn("«曹雪芹»", out)
        self.assertRegex(out, r"(?m)^  依据: dream, 10-13$")
        explained = self.json("ask", "Who wrote Moby-Dick?", "--explain")["trace"]["text"]
        first = explained["passages"][0]
        self.assertEqual(first["document"], "moby")
        self.assertTrue({"score", "words", "meaning", "gap", "spans", "null_odds"} <= set(first))
        self.assertIn('"text"', self.askbase("ask", "Who wrote Moby-Dick?", "--explain").stdout)

    def test_facts_and_documents(self):
        self.load_cities()
        self.load_documents()
        sure = self.ask("What is the capital of Freedonia?")
        self.assertEqual([(one["answer"], one["pipeline"]) for one in sure["answers"]], [("Fredville", "kb")])
        self.assertEqual(self.answer("What is the capital of Freedonia?", "--pipeline", "kb"), "Fredville")
        self.assertEqual(self.ask("Who wrote Moby-Dick?")["answers"][0]["pipeline"], "text")
        self.assertNotEqual(self.ask("Who wrote Moby-Dick?", "--pipeline", "kb")["reason"], "none")
        self.assertEqual(self.answer("Who is the king of Zzyzx?"), self.answer("Who is the king of Zzyzx?", "--pipeline", "kb"))
        self.assertIn("this program has: kb, memory, text", self.refused("ask", "Who?", "--pipeline", "faq", status=2))

    def test_reasons(self):
        self.load_cities()
        self.assertEqual(self.answer("Who wrote Moby-Dick?", "--pipeline", "text"), "nothing_loaded")
        self.load_documents()
        for question, reason in (("Who painted the Mona Lisa?", "low_confidence"), ("hello", "unsupported_question"),
                                 ("🙂🙂🙂", "unsupported_question"), ("Кто написал Моби Дик?", "unsupported_question"),
                                 ("מי כתב את מובי דיק?", "unsupported_question")):
            with self.subTest(question):
                response = self.ask(question, "--pipeline", "text")
                self.assertEqual((response["answers"], response["reason"]), ([], reason))
                self.assertTrue(response["reason_sentence"])
        self.askbase("delete", "--document", "moby")
        self.assertEqual(self.answer("Who wrote Moby-Dick?", "--pipeline", "text"), "low_confidence")

    def test_models_that_are_missing_or_broken(self):
        self.load_documents()
        os.mkdir(self.path("none"))
        response = self.ask("Who wrote Moby-Dick?", "--models", self.path("none"))
        self.assertEqual(response["reason"], "unsupported_question")
        self.assertIn("en-reader", response["reason_sentence"])
        self.assertIn("en-reader", self.askbase("--log-level", "info", "--models", self.path("none"), "ask", "Who wrote it?").stderr)
        shutil.copytree(os.path.join(MODELS, "zh-reader"), self.path("none/zh-reader"))
        self.assertEqual(self.answer("谁创作了《红楼梦》？", "--models", self.path("none")), "曹雪芹")
        with open(self.path("none/zh-reader/config.json"), "w", encoding="utf-8") as out:
            out.write("{")
        self.assertIn("zh-reader", self.refused("ask", "Who?", "--models", self.path("none")))
        # It reads nothing, so it does not matter.
        self.askbase("ask", "Who?", "--pipeline", "kb", "--models", self.path("none"))

    def test_served(self):
        self.load_cities()
        server = self.serve()

        def send(method, path, body=None):
            status, headers, answer = server.request(method, path, None if body is None else json.dumps(body),
                                                     {"Content-Type": "application/json"})
            return status, headers, json.loads(answer) if answer else None

        def ask(question, **options):
            return send("POST", "/api/v1/ask", {"question": question, **options})[2]
        self.assertEqual(ask("Who wrote Moby-Dick?", pipelines=["text"])["reason"], "nothing_loaded")
        for name, text in self.texts.items():
            self.assertEqual(send("POST", "/api/v1/documents", {"id": name, "text": text})[0], 201)
        for question, answer in (("Who wrote Moby-Dick?", "Herman Melville"), ("谁创作了《红楼梦》？", "曹雪芹"),
                                 ("What is the capital of Freedonia?", "Fredville")):
            response = ask(question)
            self.assertEqual(response["answers"][0]["answer"], answer)
        self.check_evidence(ask("谁创作了《红楼梦》？")["answers"][0])
        self.assertTrue({"en-sentence", "en-reader", "zh-reader"} <= set(response["models"]))
        deadline = time.monotonic() + 30
        while not send("GET", "/readyz")[2]["passages"]["vectors"]["complete"] and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertIn("meaning", ask("Who wrote Moby-Dick?", explain=True)["trace"]["text"]["passages"][0])
        self.assertEqual(send("DELETE", "/api/v1/documents/moby")[0], 204)
        self.assertEqual(ask("Who wrote Moby-Dick?", pipelines=["text"])["reason"], "low_confidence")
        with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
            resident = int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) / 1024
        print(f"{resident:.0f} MiB resident with all models")
        self.assertLess(resident, 300)

    def test_read_route(self):
        self.load_cities()
        server = self.serve()

        def read(body, status=200, timeout=60):
            got, headers, answer = server.request("POST", "/api/v1/read", body if isinstance(body, (str, bytes)) else json.dumps(body),
                                                  {"Content-Type": "application/json"}, timeout=timeout)
            self.assertEqual(got, status, answer[:500])
            if status != 200:
                self.assertTrue(headers["Content-Type"].startswith("application/problem+json"))
            return json.loads(answer)
        for question, text, answer in (("Who wrote Moby-Dick?", MOBY, "Herman Melville"), ("谁创作了《红楼梦》？", DREAM, "曹雪芹")):
            spans = read({"question": question, "context": text, "top": 3})
            self.assertEqual(spans[0]["answer"], answer)
            self.assertEqual([one["score"] for one in spans], sorted((one["score"] for one in spans), reverse=True))
            for one in spans:
                self.assertEqual(set(one), {"answer", "score", "start", "end", "start_utf16", "end_utf16"})
                self.assertEqual(text[one["start"]:one["end"]], one["answer"])
                units = text.encode("utf-16-le")[2 * one["start_utf16"]:2 * one["end_utf16"]]
                self.assertEqual(units.decode("utf-16-le"), one["answer"])
            self.assertEqual(len(read({"question": question, "context": text})), 1)
        # The answer at the very start and at the very end; other scripts; questions longer than the window.
        for text in ("Herman Melville", "Herman Melville wrote Moby-Dick", "Moby-Dick was written by Herman Melville"):
            self.assertEqual(read({"question": "Who wrote Moby-Dick?", "context": text})[0]["answer"], "Herman Melville")
        for text in ("", " \n", "🙂🙂🙂", "שלום עולם", "\u202e\u0000"):
            for one in read({"question": "Who wrote Moby-Dick?", "context": text, "top": 5}):
                self.assertEqual(text[one["start"]:one["end"]], one["answer"])
        for one in read({"question": "Who wrote it? " * 140, "context": MOBY}):
            self.assertEqual(MOBY[one["start"]:one["end"]], one["answer"])
        read({"question": "", "context": MOBY}, 400)
        read({"question": "Who?"}, 400)
        read({"question": "Who?", "context": MOBY, "top": 0}, 400)
        read({"question": "Who?", "context": MOBY, "lang": "fr"}, 400)
        read(b'{"question": "Who?", "context": "\xff"}', 400)
        read("{", 400)
        read({"question": "a" * 2001, "context": MOBY}, 413)
        read({"question": "Who?", "context": "a" * (10 * 1024 * 1024 + 1)}, 413)
        # A very long text takes no longer than it may, and what it has is found.
        long = ("The sea is wide and deep. " * 400_000)[:10 * 1024 * 1024 - 200] + " Moby-Dick was written by Herman Melville."
        start = time.monotonic()
        status, _, answer = server.request("POST", "/api/v1/read", json.dumps({
            "question": "Who wrote Moby-Dick?", "context": long, "timeout_ms": 30000}), {"Content-Type": "application/json"}, timeout=120)
        print(f"10 MiB read in {time.monotonic() - start:.1f} s: {status}")
        self.assertIn(status, (200, 503))
        if status == 200:
            self.assertEqual(json.loads(answer)[0]["answer"], "Herman Melville")
        start = time.monotonic()
        read({"question": "Who wrote Moby-Dick?", "context": MOBY * 2000, "timeout_ms": 1}, 503)
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(server.answer("What is the capital of Freedonia?"), "Fredville")


if __name__ == "__main__":
    main()
