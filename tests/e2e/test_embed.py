#!/usr/bin/env python3
"""embed, show --similar, eval link-prediction and the similar entities of the server."""
import json
import os
import signal
import subprocess
import time
import urllib.parse

from support import Case, main


def world(countries=12):
    """Countries with capitals, continents and people: (subject, predicate, object)."""
    for i in range(countries):
        yield f"country{i}", "capital", f"city{i}"
        yield f"country{i}", "continent", f"continent{i % 2}"
        for k in range(3):
            yield f"person{i}_{k}", "born in", f"city{i}"


def turtle(facts):
    iri = lambda name: "<urn:x:" + urllib.parse.quote(name) + ">"
    lines = [f"{iri(s)} {iri(p)} {iri(o)} ." for s, p, o in facts]
    lines.append('<urn:x:country3> <http://www.w3.org/2000/01/rdf-schema#label> "Freedonia"@en, "弗里多尼亚"@zh .')
    return "\n".join(lines) + "\n"


QUICK = ["--dim", "16", "--negatives", "0", "--batch", "16", "--threads", "2"]
SHORT = ["--epochs", "30"]


class Embed(Case):
    def load_world(self):
        self.askbase("load", self.file("world.ttl", turtle(world())))

    def splits(self):
        """TSV files with Chinese names and spaces; a ring that can be learned."""
        names = [f"城市 {i}" for i in range(30)]
        facts = [(names[i], relation, names[(i + step) % 30])
                 for relation, step in (("next to", 1), ("对面", 15), ("far from", 7)) for i in range(30)]
        held = facts[::10]
        train = [fact for fact in facts if fact not in held]
        write = lambda name, rows: self.file(name, "".join("\t".join(row) + "\n" for row in rows))
        return write("train.tsv", train), write("valid.tsv", held[:4]), write("test.tsv", held[4:])

    def test_knowledge_base(self):
        self.load_world()
        self.assertIn("no embeddings", self.refused("show", "urn:x:city3", "--similar"))
        report = self.json("embed", *QUICK, *SHORT)
        self.assertEqual(report["relations"], 3)
        self.assertEqual(report["facts"] + report["validation_facts"], 60)
        self.assertTrue(os.path.exists(os.path.join(self.kb, "embeddings", "vectors.safetensors")))
        shown = self.json("show", "urn:x:person3_0", "--similar")
        similar = [one["id"] for one in shown["similar"]]
        self.assertEqual(len(similar), 10)
        self.assertEqual(set(similar[:2]), {"urn:x:person3_1", "urn:x:person3_2"})
        self.assertIn("Freedonia", self.askbase("show", "urn:x:country5", "--similar").stdout)
        # What comes later gets a vector from its facts; what has no known neighbour has none.
        self.askbase("load", self.file("later.ttl", turtle([("新人", "born in", "city3"), ("a", "b", "c")])))
        new = self.json("show", "urn:x:" + urllib.parse.quote("新人"), "--similar")
        self.assertEqual(len(new["similar"]), 10)
        self.assertEqual(self.json("show", "urn:x:a", "--similar")["similar"], [])
        self.assertEqual(self.json("embed", "--update")["added"], 1)
        self.check()

    def test_server(self):
        self.load_world()
        server = self.serve()
        path = "/api/v1/entities/" + urllib.parse.quote("urn:x:country3", safe="") + "/similar"
        get = lambda query="": json.loads(server.request("GET", path + query)[2])
        self.assertEqual(get()["reason"], "no_embeddings")
        self.askbase("embed", *QUICK, *SHORT)  # beside the running server
        answer = get("?limit=3&lang=zh")
        self.assertEqual(answer["label"], "弗里多尼亚")
        self.assertEqual(len(answer["similar"]), 3)
        self.assertEqual(answer["embeddings"]["model"], "transe")
        self.assertGreaterEqual(answer["similar"][0]["similarity"], answer["similar"][2]["similarity"])
        self.assertEqual(server.request("GET", "/api/v1/entities/urn:x:none/similar")[0], 404)
        self.assertEqual(server.request("GET", path + "?limit=0")[0], 400)

    def test_link_prediction(self):
        train, valid, test = self.splits()
        vectors = self.path("v.safetensors")
        for kind in ("transe", "transh", "transr", "rotate", "distmult", "complex"):
            self.askbase("embed", "--data", train, valid, test, "--out", vectors, "--kind", kind, "--dim", "16", "--epochs", "5")
            report = self.json("eval", "link-prediction", "--vectors", vectors, "--data", train, valid, test)
            self.assertEqual(report["triples"], 5)
        self.askbase("embed", "--data", train, valid, "--out", vectors, "--dim", "32", "--epochs", "80", "--negatives", "0")
        out = self.path("ranks.jsonl")
        report = self.json("eval", "link-prediction", "--vectors", vectors, "--data", train, valid, test, "--relations", "--out", out)
        for name in ("mrr", "hits_at_1", "hits_at_3", "hits_at_10", "mean_rank", "raw_mrr", "raw_mean_rank"):
            low, high = report[name + "_ci"]
            self.assertLessEqual(low, report[name])
            self.assertGreaterEqual(high, report[name])
        self.assertGreater(report["mrr"], 0.2)  # chance gives 0.13
        self.assertGreaterEqual(report["mrr"], report["raw_mrr"])
        self.assertEqual(list(report["categories"]), ["1-1"])
        self.assertEqual(report["protocol"]["candidates"], 30)
        self.assertIn("对面", report["relations"])
        with open(out, encoding="utf-8") as lines:
            ranks = [json.loads(line) for line in lines]
        mrr = sum(1 / r["tail_rank"] + 1 / r["head_rank"] for r in ranks) / 2 / len(ranks)
        self.assertAlmostEqual(mrr, report["mrr"], places=4)
        unknown = self.file("more.test.tsv", "城市 1\tnext to\tnowhere\n城市 0\tnext to\t城市 1\n")
        for unseen, count in (("keep", 2), ("drop", 1), ("last", 2)):
            report = self.json("eval", "link-prediction", "--vectors", vectors, "--data", unknown, "--unseen", unseen)
            self.assertEqual(report["triples"], count)
            self.assertEqual(report["protocol"]["unseen_triples"], 1)

    def test_deterministic_and_resumed(self):
        train, valid, test = self.splits()
        options = ["--data", train, valid, "--dim", "64", "--epochs", "4000", "--patience", "100000", "--negatives", "0",
                   "--threads", "1"]
        whole, parts = self.path("whole"), self.path("parts")
        self.askbase("embed", *options, "--out", whole)
        process = subprocess.Popen(self.command("embed", *options, "--out", parts), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        time.sleep(0.4)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1].decode()
        if process.returncode != 0:  # else it was faster
            self.assertEqual(process.returncode, 130, errors)
            self.assertIn("--resume", errors)
            self.assertFalse(os.path.exists(parts))
            self.assertIn("rate", self.refused("embed", *options, "--out", parts, "--rate", "0.3", "--resume", status=2))
            self.askbase("embed", *options, "--out", parts, "--resume")
        with open(whole, "rb") as a, open(parts, "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertFalse(os.path.exists(parts + ".checkpoint"))
        self.assertIn("no interrupted training", self.refused("embed", *options, "--out", parts, "--resume"))

    def test_store_that_changes_while_training(self):
        self.load_world()
        before = self.stats()["facts"]
        process = subprocess.Popen(self.command("embed", *QUICK, "--epochs", "3000", "--json"), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        time.sleep(0.2)
        self.askbase("load", self.file("later.ttl", turtle([("late", "born in", "city3")])))
        report = json.loads(process.communicate(timeout=120)[0])
        self.assertEqual(process.returncode, 0)
        self.assertIn(report["facts"], (60, 61))  # one state or the other
        self.assertEqual(self.stats()["facts"], before + 1)
        self.assertEqual(len(self.json("show", "urn:x:late", "--similar")["similar"]), 10)

    def test_export_and_import(self):
        self.load_world()
        self.askbase("embed", *QUICK, *SHORT)
        self.askbase("embed", "export", self.path("npy"))
        self.askbase("embed", "export", self.path("tsv"), "--format", "tsv")
        before = self.json("show", "urn:x:city3", "--similar")["similar"]
        os.remove(os.path.join(self.kb, "embeddings", "vectors.safetensors"))
        self.askbase("embed", "import", self.path("npy"))
        self.assertEqual(self.json("show", "urn:x:city3", "--similar")["similar"], before)
        with open(os.path.join(self.path("tsv"), "entities.tsv"), encoding="utf-8") as lines:
            self.assertEqual(len(lines.readline().split("\t")), 17)
        other = self.path("other")
        self.load_cities(kb=other)
        self.assertIn("none of the", self.refused("embed", "import", self.path("npy"), kb=other, status=2))
        os.makedirs(os.path.join(other, "embeddings"))
        os.replace(os.path.join(self.kb, "embeddings", "vectors.safetensors"),
                   os.path.join(other, "embeddings", "vectors.safetensors"))
        self.assertIn("another", self.refused("show", "urn:x:Fredville", "--similar", kb=other, status=2))

    def test_bad_input(self):
        self.assertIn("no knowledge base", self.refused("embed").lower().replace("there is no", "no"))
        self.askbase("load", self.file("labels.ttl", '<urn:x:a> <http://www.w3.org/2000/01/rdf-schema#label> "A" .\n'))
        self.assertIn("no facts between entities", self.refused("embed"))
        self.askbase("load", self.file("one.ttl", "<urn:x:a> <urn:x:p> <urn:x:b> .\n"))
        self.assertEqual(self.json("embed", *QUICK, *SHORT)["facts"], 1)
        self.refused("embed", "--dim", "0", status=2)
        self.refused("embed", "--kind", "complex", "--dim", "7", status=2)
        self.refused("embed", "--kind", "nonsense", status=2)
        self.refused("embed", "--negatives", "0", "--kind", "transr", status=2)
        bad = self.file("train.tsv", "a\tb\tc\nonly two\n")
        self.assertIn("train.tsv:2", self.refused("embed", "--data", bad, "--out", self.path("v")))
        self.assertIn("--out", self.refused("embed", "--data", bad, status=2))
        self.assertIn("no facts to train on",
                      self.refused("embed", "--data", self.file("test.tsv", "a\tb\tc\n"), "--out", self.path("v")))
        damaged = self.file("damaged", b"\x08\0\0\0\0\0\0\0{}      ")
        self.refused("eval", "link-prediction", "--vectors", damaged, "--data", self.path("test.tsv"))
        self.assertIn("diverged", self.refused("embed", "--kind", "complex", "--optimiser", "sgd", "--rate", "1000",
                                               "--initial", "100", "--n3", "1000", "--epochs", "30"))


if __name__ == "__main__":
    main()
