#!/usr/bin/env python3
"""Draws the work sheets of the two question sets: facts sampled by seed and spread over predicates.

Usage: python3 sample.py zh_medical|oewn DATA [SEED] > sheet.jsonl

DATA holds zh_medical.tsv.gz, oewn.tsv.gz and oewn.labels.tsv.gz. A row of the sheet holds everything but the
wording. In reverse rows `entity` is the node that the question names and the answers are the subjects.
"""
import collections
import gzip
import json
import math
import os
import random
import re
import sys

SEED = 20261201
TOTAL = 150
SHARE = {"forward": 66, "reverse": 33, "count": 14, "boolean": 15}
UNANSWERABLE = {"fact_missing": 6, "relation_unmatched": 6, "entity_unknown": 6, "unsupported_question": 4}
STYLES = {"alias": 15, "avoid_label": 45, "typo": 15}
MOST = 15
WEIGHT = {
    "zh_medical": {"症状": 14, "就诊科室": 11, "并发症": 10, "药品": 10, "检查项目": 10, "治疗方法": 8, "发病部位": 9,
                   "多发人群": 7, "治愈率": 7, "治疗周期": 7, "费用": 6, "传染性": 6, "医保": 5, "别名": 4},
    "oewn": {"hypernym": 24, "instance_hypernym": 14, "mero_part": 14, "mero_member": 10, "mero_substance": 8,
             "domain_topic": 8, "domain_region": 6, "causes": 4, "entails": 5, "similar": 6, "attribute": 5, "also": 4,
             "exemplifies": 5, "pos": 3, "wikidata": 3}}
REVERSE = {"zh_medical": {"症状", "就诊科室", "并发症", "药品", "检查项目", "治疗方法", "发病部位", "多发人群", "别名"},
           "oewn": {"hypernym", "instance_hypernym", "mero_part", "mero_member", "mero_substance", "domain_topic",
                    "domain_region", "causes", "entails", "exemplifies", "wikidata"}}
BOOLEAN = {"zh_medical": {"症状", "就诊科室", "并发症", "药品", "检查项目", "治疗方法", "发病部位", "多发人群", "传染性", "医保", "别名"},
           "oewn": {"hypernym", "instance_hypernym", "mero_part", "mero_member", "mero_substance", "domain_topic",
                    "domain_region", "entails", "causes", "pos"}}
COUNT = {"zh_medical": {"症状", "就诊科室", "并发症", "药品", "检查项目", "治疗方法", "发病部位", "别名"},
         "oewn": {"hypernym", "instance_hypernym", "mero_part", "mero_member", "mero_substance"}}
# A lack of these facts cannot be told from a question about the word itself.
LACK = {"zh_medical": ["药品", "并发症", "症状", "检查项目", "医保", "治愈率", "费用", "多发人群"],
        "oewn": ["mero_part", "mero_substance", "mero_member", "entails", "causes", "mero_part"]}
KINDS = {"mero_part": {"noun.artifact", "noun.animal"}, "mero_substance": {"noun.artifact", "noun.food"}, "mero_member": {"noun.group"},
         "entails": {"verb.motion", "verb.consumption", "verb.contact"}, "causes": {"verb.body", "verb.social", "verb.communication"},
         None: {"noun.artifact", "noun.animal", "noun.person", "noun.location", "noun.food", "noun.plant"}}
JUNK = re.compile(r"暂无|应该如何|>>|^\d+$|[?？]|^无$|详见|不详|[，,。].*[，,。]")
SHIFTED = re.compile(r"终身治疗|[天周月年]\Z")
# A wrong value that a reader could defend, and the one asked in its place.
UNCLEAR = {"oewn:01346574-v": "oewn:00307505-v"}
REJECT = {"racism", "negress", "ethnic slur"}
HAN = re.compile(r"[\u4e00-\u9fff]{2,8}\Z")
DRUG = re.compile(r"(片|胶囊|颗粒|丸|液|膏|散|注射液)\Z")


class Facts:
    def __init__(self, kb, data):
        self.kb = kb
        self.out = collections.defaultdict(lambda: collections.defaultdict(list))
        self.into = collections.defaultdict(lambda: collections.defaultdict(list))
        self.pairs = collections.defaultdict(list)
        self.label, self.alias = {}, collections.defaultdict(list)
        self.named = collections.defaultdict(set)
        self.gloss, self.zh = {}, set()
        for s, p, o in self.rows(os.path.join(data, kb + ".tsv.gz")):
            if o not in self.out[s][p]:
                self.out[s][p].append(o)
                self.into[o][p].append(s)
                self.pairs[p].append((s, o))
        words = collections.Counter()
        if kb == "oewn":
            for s, lang, text, kind in self.rows(os.path.join(data, "oewn.labels.tsv.gz")):
                if lang == "zh":
                    self.zh.add(s)
                elif kind == "description":
                    tokens = re.findall(r"[A-Za-z][A-Za-z'-]*", text.lower())
                    words.update(set(tokens) | set(" ".join(x) for x in zip(tokens, tokens[1:])))
                    self.gloss[s] = text
                else:
                    self.named[text.casefold()].add(s)
                    if kind == "label":
                        self.label[s] = text
                    else:
                        self.alias[s].append(text)
        else:
            for s in list(self.out):
                self.label[s] = s
                self.named[s].add(s)
                for a in self.out[s].get("别名", []):
                    self.alias[s].append(a)
                    self.named[a].add(s)
        self.fame = {}
        for s in self.label:
            links = sum(len(v) for v in self.out[s].values()) + sum(len(v) for v in self.into[s].values())
            if kb == "oewn":
                known = 1.5 * min(4, math.log1p(words[self.label[s].lower()])) + min(3, math.log1p(links))
                known += (s in self.zh) + ("wikidata" in self.out[s]) + ("instance_hypernym" in self.out[s])
                known -= 2.5 * (len(self.named[self.label[s].casefold()]) - 1)
                taxon = self.label[s][0].isupper() and {"noun.plant", "noun.animal"} & set(self.out[s]["lexfile"])
                known -= 3 * bool(taxon) + 4 * self.label[s].startswith(("genus ", "family "))
                self.fame[s] = known - 2 * max(0, self.label[s].count(" ") - 1)
            else:
                heard = len(self.into[s].get("并发症", [])) + len(self.into[s].get("症状", []))
                self.fame[s] = 2 * math.log1p(heard) + math.log1p(len(self.alias[s])) - 0.3 * max(0, len(s) - 4) + 0.02 * links

    @staticmethod
    def rows(path):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield line.rstrip("\n").split("\t")

    def name(self, node):
        return self.label.get(node, node)

    def sayable(self, node):
        text = self.name(node)
        if self.kb == "oewn":
            return node in self.label and text.count(" ") <= 2 and re.match(r"[A-Za-z][A-Za-z' .-]+\Z", text) is not None
        return HAN.match(text) is not None

    def clean(self, values):
        return not any(JUNK.search(v) for v in values)

    def namesakes(self, text, predicate, side):
        index = self.out if side == "forward" else self.into
        found = self.named.get(text.casefold() if self.kb == "oewn" else text, set())
        return sorted(n for n in found if index[n].get(predicate))


class Sheet:
    def __init__(self, kb, data, seed):
        self.kb, self.f, self.rng = kb, Facts(kb, data), random.Random(f"{seed}-{kb}")
        self.rows, self.used, self.cache = [], collections.Counter(), {}

    def ranked(self, nodes, keep):
        nodes = sorted(nodes, key=lambda n: (-self.f.fame.get(n, 0), n))[:keep]
        self.rng.shuffle(nodes)
        return sorted(nodes, key=lambda n: self.used[n])

    def add(self, kind, direction, entity, predicate, gold, **more):
        self.used[entity] += 1
        self.rows.append({"kind": kind, "direction": direction, "entity": entity, "label": self.f.name(entity) if entity else None,
                          "predicate": predicate, "answers": gold, **more})
        return True

    def subjects(self, p):
        if ("s", p) not in self.cache:
            wide = {n for n, _ in self.f.pairs[p] if self.f.sayable(n)}
            keep = 250 if self.kb == "zh_medical" else min(2000, max(60, len(wide) // 4))
            self.cache["s", p] = sorted(wide, key=lambda n: (-self.f.fame.get(n, 0), n))[:keep]
        return self.ranked([n for n in self.cache["s", p] if not self.used[n]], len(self.cache["s", p]))

    def golds(self, node, p, side, loose):
        """Every answer under the name of the node; None where too many entities bear it."""
        index = self.f.out if side == "forward" else self.f.into
        same = self.f.namesakes(self.f.name(node), p, side) if node in self.f.label else [node]
        if node not in same or len(same) > (2 if loose else 1):
            return None
        gold = sorted({v for n in same for v in index[n][p]})
        asked, told = self.f.name(node).casefold(), [self.f.name(v).casefold() for v in gold]
        if asked in told or not REJECT.isdisjoint(told + [asked]):
            return None
        if self.kb == "oewn" and len(told) == 1 and (f" {told[0]} " in f" {asked} " or f" {asked} " in f" {told[0]} "):
            return None
        return gold if self.f.clean(gold) else None

    def forward(self, p):
        for s in self.subjects(p):
            gold = self.golds(s, p, "forward", p in ("similar", "also", "attribute", "causes", "entails", "exemplifies"))
            if gold is None or len(gold) > MOST or (p == "hypernym" and len(gold) > 2):
                continue
            if p in ("治愈率", "费用", "多发人群", "治疗周期") and any(len(v) > 45 for v in gold):
                continue
            kind = "list" if len(gold) > 1 else ("entity" if gold[0] in self.f.label else "literal")
            return self.add(kind, "forward", s, p, gold)
        return False

    def objects(self, p, low, high):
        if (p, low, high) not in self.cache:
            self.cache[p, low, high] = self.candidates(p, low, high)
        out = [o for o in self.cache[p, low, high] if not self.used[o]]
        self.rng.shuffle(out)
        return out

    def candidates(self, p, low, high):
        out = []
        for o in sorted({o for _, o in self.f.pairs[p]}):
            n = len(self.f.into[o][p])
            if not low <= n <= high or JUNK.search(o):
                continue
            if p == "wikidata":
                out.append(o)
            elif self.kb == "zh_medical" and (HAN.match(o) is None or (p == "药品" and not DRUG.search(o)) or
                                              (p == "别名" and len(self.f.named[o]) > 1)):
                continue
            elif self.kb == "oewn" and not self.f.sayable(o):
                continue
            else:
                out.append(o)
        if self.kb == "oewn" and p != "wikidata":
            return sorted(out, key=lambda o: (-self.f.fame[o], o))[:max(40, len(out) // 8)]
        if p == "wikidata":
            best = {o: max(self.f.fame.get(s, 0) for s in self.f.into[o][p]) for o in out}
            out = sorted(out, key=lambda o: (-best[o], o))[:200]
        else:
            out = sorted(out, key=lambda o: (-len(self.f.into[o][p]), len(o), o))[:300]
        return out

    def reverse(self, p, low=1, high=MOST, kind=None):
        if p not in REVERSE[self.kb]:
            return False
        for o in self.objects(p, low, high):
            gold = self.golds(o, p, "reverse", False)
            if gold is None or not low <= len(gold) <= high or any(
                    not HAN.match(g) or SHIFTED.search(g) for g in gold if self.kb == "zh_medical"):
                continue
            if self.kb == "oewn" and self.rng.random() < 0.5 and len(gold) < 2:
                continue
            if kind == "count":
                return self.add("count", "reverse", o, p, [len(gold)])
            return self.add("list" if len(gold) > 1 else "entity", "reverse", o, p, gold)
        return False

    def count(self, p):
        if p not in COUNT[self.kb]:
            return False
        if self.rng.random() < 0.4 and p in REVERSE[self.kb]:
            return self.reverse(p, 2, 60, "count")
        for s in self.subjects(p) if p not in ("hypernym", "instance_hypernym") else []:
            gold = self.golds(s, p, "forward", False)
            if gold is not None and 2 <= len(gold) <= 60:
                return self.add("count", "forward", s, p, [len(gold)])
        return False

    def boolean(self, p):
        if p not in BOOLEAN[self.kb]:
            return False
        names = self.subjects(p)
        for s in names:
            gold = self.golds(s, p, "forward", False)
            if gold is None:
                continue
            if self.rng.random() < 0.5:
                fit = [v for v in gold if (self.f.sayable(v) or p == "pos") and len(v) <= 12 or self.kb == "oewn"]
                if fit:
                    return self.add("boolean", "forward", s, p, [True], value=fit[0], value_label=self.f.name(fit[0]))
            else:
                others = sorted({v for n in names[:400] for v in self.f.out[n][p]} - set(gold))
                others = [v for v in others if self.f.clean([v]) and (self.f.sayable(v) or p == "pos") and not any(v in g or g in v for g in gold)]
                if self.kb == "oewn" and p != "pos":
                    above = {h for v in gold for q in ("hypernym", "instance_hypernym") for h in self.f.out[v][q]}
                    near = [v for v in others if above & set(self.f.out[v]["hypernym"] + self.f.out[v]["instance_hypernym"])]
                    others = near or others
                if others:
                    v = self.rng.choice(others)
                    return self.add("boolean", "forward", s, p, [False], value=v, value_label=self.f.name(v))
        return False

    def draw(self, number, make):
        """Predicates in rounds by weight: each gets a ticket per unit of weight, spread evenly."""
        weight = WEIGHT[self.kb]
        whole = sum(weight.values())
        have, done, tries = collections.Counter(), 0, collections.Counter()
        while done < number:
            p = max(weight, key=lambda x: (weight[x] * (done + 1) / whole - have[x] - 0.5 * tries[x], x))
            if make(p):
                have[p] += 1
                done += 1
            else:
                tries[p] += 1
                if sum(tries.values()) > 500:
                    raise SystemExit("too few facts")

    def lacking(self, p):
        have = collections.Counter()
        peers = [s for s in self.f.label if self.f.sayable(s) and self.used[s] == 0]
        if self.kb == "oewn":
            peers = [s for s in peers if set(self.f.out[s]["lexfile"]) & KINDS[p]]
        for s in self.ranked(peers, 700 if self.kb == "zh_medical" else 150):
            named = self.f.named[self.f.name(s).casefold() if self.kb == "oewn" else s]
            if not any(self.f.out[n].get(p) for n in named) and len(named) <= 2:
                return s
        return None

    def sheet(self):
        for name, number in SHARE.items():
            self.draw(number, getattr(self, name))
        order = self.rng.sample(self.rows, len(self.rows))
        for row in order:
            row["style"] = "plain"

        def aliases(row):
            p, e = row["predicate"], row["entity"]
            if p == "别名" or e not in self.f.label:
                return []
            side = row["direction"]
            return [a for a in self.f.alias[e] if self.f.namesakes(a, p, side) == [e] and (self.kb == "oewn" or a not in self.f.label)
                    and a.casefold() != self.f.name(e).casefold() and re.match(r"[A-Za-z][A-Za-z' .-]*\Z|[\u4e00-\u9fff]{2,}\Z", a)
                    and (self.kb == "oewn" or side == "forward")]
        for row in [r for r in order if aliases(r)][:STYLES["alias"]]:
            row["style"], row["aliases"] = "alias", aliases(row)[:4]
        rest = [r for r in order if r["style"] == "plain" and r["predicate"] not in ("pos", "wikidata")]
        for row in rest[:STYLES["avoid_label"]]:
            row["style"] = "avoid_label"
        for row in rest[STYLES["avoid_label"]:STYLES["avoid_label"] + STYLES["typo"]]:
            row["style"] = "typo"
        for reason, number in UNANSWERABLE.items():
            for i in range(number):
                more = {"reason": reason, "style": "plain"}
                p = self.rng.choice(LACK[self.kb]) if reason == "fact_missing" else self.rng.choice(sorted(WEIGHT[self.kb]))
                if reason == "fact_missing":
                    p = LACK[self.kb][i % len(LACK[self.kb])]
                    self.add("none", "forward", self.lacking(p), p, [], **more)
                elif reason == "entity_unknown":
                    self.add("none", "forward", None, p, [], **more)
                else:
                    pool = [s for s in self.f.label if self.f.sayable(s) and not self.used[s] and (self.kb != "oewn" or set(self.f.out[s]["lexfile"]) & KINDS[None])
                            and len(self.f.named[self.f.name(s).casefold()]) == 1]
                    free = reason == "unsupported_question"
                    self.add("none", "free" if free else "forward", self.ranked(pool, 400)[0], None, [], **more)
        for row in self.rows:
            if row.get("value") in UNCLEAR:
                row["value"] = UNCLEAR[row["value"]]
                row["value_label"] = self.f.name(row["value"])
        assert len(self.rows) == TOTAL
        self.rng.shuffle(self.rows)
        tag = "zh" if self.kb == "zh_medical" else "en"
        for number, row in enumerate(self.rows, 1):
            row.update(id=f"unseen-{self.kb}-{number:03d}", lang=tag)
        return self.rows


def main():
    kb, data = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else SEED
    made = Sheet(kb, data, seed)
    for row in made.sheet():
        row["answer_labels"] = [made.f.name(a) if isinstance(a, str) else a for a in row["answers"]]
        if kb == "oewn" and row["entity"]:
            row["gloss"] = made.f.gloss.get(row["entity"], "")
        print(json.dumps(row, ensure_ascii=False, sort_keys=True))


if __name__ == "__main__":
    main()
