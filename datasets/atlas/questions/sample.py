#!/usr/bin/env python3
"""Draws the work sheet of questions.jsonl: facts sampled by seed and spread over predicates.

Usage: /usr/bin/python3 questions/sample.py en|zh > sheet.jsonl     (Debian: python3-rdflib)

Each row of the sheet holds everything but the wording: the task (kind, direction, style), the labels that the
writer may use, and the expected answers taken from the facts. A person who has not seen the program words the
rows; questions/assemble.py joins sheet and wordings into ../questions.jsonl and checks them.
"""
import collections
import glob
import gzip
import json
import os
import random
import sys

import rdflib

HERE = os.path.dirname(os.path.abspath(__file__))
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
P = "urn:askbase:p:"
# Predicates nobody would ask a person about, or whose inverse is meaningless as a question.
NOT_ASKED = {P + x for x in ("nativeName", "officialName", "flagEmoji", "latitude", "longitude", "utcOffset",
                             "shellElectrons", "electronConfiguration", "gdpPpp", "planetType")}
BOOLEAN = {P + x for x in ("landlocked", "independent", "unMember", "ringSystem")}
# A missing value of these means "none", so absence is itself an answer.
ABSENCE_IS_ANSWER = {P + x for x in ("border", "sovereignState", "orbits", "partOf", "seatOfGovernment", "numberOfMoons",
                                     "elevation", "rotationPeriod", "ringSystem", "group", "languageCode2")}
SHARE = {"forward": 0.50, "reverse": 0.24, "count": 0.10, "boolean": 0.06, "class": 0.10}
ANSWERABLE, SEED = 290, 20261130
UNANSWERABLE = {"entity_unknown": 13, "relation_unmatched": 13, "fact_missing": 10, "unsupported_question": 10,
                "ambiguous": 5}


def load():
    facts = []
    for path in sorted(glob.glob(os.path.join(HERE, "..", "*.ttl*"))):
        opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
        graph = rdflib.Graph()
        graph.parse(data=opened.read(), format="turtle")
        for s, p, o in graph:
            value = ((str(o), str(o.language or "")) if isinstance(o, rdflib.Literal) else str(o))
            facts.append((str(s), str(p), value))
    return sorted(set(facts), key=repr)


class Atlas:
    def __init__(self, facts):
        self.out = collections.defaultdict(lambda: collections.defaultdict(list))
        self.into = collections.defaultdict(lambda: collections.defaultdict(list))
        self.label = collections.defaultdict(dict)
        self.alias = collections.defaultdict(lambda: collections.defaultdict(list))
        self.type = {}
        self.named = collections.defaultdict(set)
        self.by_predicate = collections.defaultdict(list)
        for s, p, o in facts:
            if p in (LABEL, ALIAS):
                text, lang = o
                lang = "zh" if lang.startswith("zh") else lang
                if p == LABEL:
                    self.label[s].setdefault(lang, text)
                else:
                    self.alias[s][lang].append(text)
                self.named[text.casefold()].add(s)
            elif p == TYPE:
                self.type[s] = o
            elif p.startswith(P):
                self.out[s][p].append(o)
                self.into[o][p].append(s)
                self.by_predicate[p].append((s, o))

    def population(self, entity):
        values = self.out[entity].get(P + "population")
        return int(values[0][0]) if values else 0

    def clear(self, entity, lang):
        """Has a label in the language that means this entity and no other one."""
        text = self.label[entity].get(lang)
        if not text or len(self.named[text.casefold()]) > 1:
            return False
        kind = self.type.get(entity, "")
        if kind.endswith(":City"):
            return self.population(entity) >= 200000
        return not kind.endswith((":AdministrativeRegion", ":TimeZone", ":LanguageFamily"))

    def name(self, value, lang):
        if isinstance(value, tuple):
            return value[0]
        return self.label[value].get(lang) or self.label[value].get("en") or value


def answers(values):
    return sorted({v if isinstance(v, str) else v[0] for v in values})


def sheet(lang):
    atlas = Atlas(load())
    rng = random.Random(f"{SEED}-{lang}")
    asked = [p for p in sorted(atlas.by_predicate) if p not in NOT_ASKED and atlas.label[p].get(lang)]
    rows, used = [], set()

    def row(kind, direction, entity, predicate, value, gold, **more):
        key = (direction, entity, predicate, value)
        if key in used:
            return False
        used.add(key)
        item = {"kind": kind, "direction": direction}
        if entity:
            item["entity"] = {"id": entity, "label": atlas.name(entity, lang), "type": atlas.name(atlas.type.get(entity, ""), lang)
                              if atlas.type.get(entity) else "", "aliases": sorted(atlas.alias[entity].get(lang, []))[:8]}
        if predicate:
            item["predicate"] = {"id": predicate, "label": atlas.label[predicate].get(lang, ""),
                                 "aliases": sorted(atlas.alias[predicate].get(lang, []))}
        if value is not None:
            item["value"] = atlas.name(value, lang)
            if isinstance(value, str):
                item["value_aliases"] = sorted(atlas.alias[value].get(lang, []))[:8]
        item["answers"] = gold
        item["answer_labels"] = [atlas.name(g, lang) for g in gold[:12]]
        item.update(more)
        rows.append(item)
        return True

    def draw(count, make):
        """Calls make(predicate) for predicates in rounds, shuffled anew each, until count rows stand."""
        done = tries = 0
        while done < count and tries < 200:
            tries += 1
            order = asked[:]
            rng.shuffle(order)
            for p in order:
                if done < count and make(p):
                    done += 1

    def forward(p):
        if p in BOOLEAN:
            return False
        pairs = [(s, o) for s, o in rng.sample(atlas.by_predicate[p], min(400, len(atlas.by_predicate[p]))) if atlas.clear(s, lang)]
        for s, _ in pairs:
            gold = answers(atlas.out[s][p])
            kind = "list" if len(gold) > 1 else ("literal" if isinstance(atlas.out[s][p][0], tuple) else "entity")
            if len(gold) <= 30 and row(kind, "forward", s, p, None, gold):
                return True
        return False

    def inverse(p, low, high, literal_ok):
        pairs = rng.sample(atlas.by_predicate[p], min(600, len(atlas.by_predicate[p])))
        for s, o in pairs:
            subjects = atlas.into[o][p]
            if isinstance(o, tuple):
                if not literal_ok or p in BOOLEAN:
                    continue
            elif not atlas.clear(o, lang):
                continue
            classes = {atlas.type.get(x) for x in subjects}
            if low <= len(subjects) <= high and len(classes) == 1:
                return s, o, sorted(subjects), classes.pop()
        return None

    codes = {P + x for x in ("symbol", "atomicNumber", "alpha2", "alpha3", "topLevelDomain", "callingCode",
                             "currencyCode", "discoveryYear", "demonym", "orderFromSun")}

    def reverse(p):
        found = inverse(p, 1, 12, p in codes)
        if not found:
            return False
        _, o, subjects, kind = found
        return row("list" if len(subjects) > 1 else "entity", "reverse", None, p, o, subjects,
                   asked_type=atlas.name(kind, lang))

    def of_class(p):
        found = inverse(p, 3, 60, p in {P + "discoveryYear", P + "group", P + "period"})
        if not found:
            return False
        _, o, subjects, kind = found
        return row("list", "class", None, p, o, subjects, asked_type=atlas.name(kind, lang))

    def count(p):
        if p in BOOLEAN:
            return False
        if rng.random() < 0.5:
            found = inverse(p, 2, 400, p in {P + "discoveryYear", P + "group", P + "period"})
            if not found:
                return False
            _, o, subjects, kind = found
            return row("count", "reverse", None, p, o, [str(len(subjects))], asked_type=atlas.name(kind, lang))
        pairs = [(s, o) for s, o in rng.sample(atlas.by_predicate[p], min(300, len(atlas.by_predicate[p])))
                 if atlas.clear(s, lang) and len(atlas.out[s][p]) > 1 and not isinstance(o, tuple)]
        return any(row("count", "forward", s, p, None, [str(len(atlas.out[s][p]))]) for s, _ in pairs[:1])

    def boolean(p):
        pairs = [(s, o) for s, o in rng.sample(atlas.by_predicate[p], min(300, len(atlas.by_predicate[p]))) if atlas.clear(s, lang)]
        for s, o in pairs:
            if p in BOOLEAN:
                return row("boolean", "forward", s, p, None, [o[0]])
            if isinstance(o, tuple) or not atlas.clear(o, lang):
                continue
            if rng.random() < 0.5:
                return row("boolean", "forward", s, p, o, ["true"])
            others = [v for v in {x for _, x in pairs} if not isinstance(v, tuple) and v not in atlas.out[s][p] and atlas.clear(v, lang)]
            if others:
                return row("boolean", "forward", s, p, sorted(others)[rng.randrange(len(others))], ["false"])
        return False

    makers = {"forward": forward, "reverse": reverse, "count": count, "boolean": boolean, "class": of_class}
    for name, share in SHARE.items():
        draw(round(ANSWERABLE * share), makers[name])
    total = ANSWERABLE + sum(UNANSWERABLE.values())
    order = rng.sample(rows, len(rows))
    for item in order:
        item["style"] = "plain"
    has_alias = [r for r in order if r.get("entity", {}).get("aliases") or r.get("value_aliases")]
    for item in has_alias[:round(total * 0.10)]:
        item["style"] = "alias"
    plain = [r for r in order if r["style"] == "plain"]
    avoid, typo = round(total * 0.30), round(total * 0.10)
    for item in plain[:avoid]:
        item["style"] = "avoid_label"
    for item in plain[avoid:avoid + typo]:
        item["style"] = "typo"

    clear = [e for e in sorted(atlas.type) if atlas.clear(e, lang) and not atlas.type[e].endswith(("Class", "Property"))]
    for reason, number in UNANSWERABLE.items():
        done = 0
        while done < number:
            more = {"reason": reason, "style": "plain"}
            if reason == "fact_missing":
                p = rng.choice([x for x in asked if x not in ABSENCE_IS_ANSWER and x not in BOOLEAN])
                kinds = collections.Counter(atlas.type.get(s) for s, _ in atlas.by_predicate[p])
                kind = kinds.most_common(1)[0][0]
                members = [e for e in clear if atlas.type[e] == kind]
                lacking = [e for e in members if p not in atlas.out[e]]
                if not lacking or len(lacking) > 0.6 * len(members):
                    continue
                done += row("none", "forward", rng.choice(lacking), p, None, [], **more)
            elif reason == "ambiguous":
                name = rng.choice(sorted(n for n, e in atlas.named.items() if 2 <= len(e) <= 6))
                group = sorted(atlas.named[name])
                sizes = sorted(atlas.population(e) for e in group)
                if not all(atlas.type.get(e, "").endswith(":City") for e in group) or sizes[-1] > 2.5 * max(1, sizes[-2]):
                    continue
                if lang == "zh" and not any(atlas.label[e].get("zh", "").casefold() == name for e in group):
                    if rng.random() < 0.98:
                        continue
                p = rng.choice([P + "population", P + "country", P + "timeZone"])
                if len({repr(atlas.out[e].get(p)) for e in group}) > 1:
                    done += row("none", "forward", group[0], p, None, [], **more)
            elif reason == "unsupported_question":
                done += 1
                rows.append({"kind": "none", "direction": "free", "answers": [], **more})
            elif reason == "entity_unknown":
                p = rng.choice([x for x in asked if x not in BOOLEAN])
                kinds = collections.Counter(atlas.type.get(s) for s, _ in atlas.by_predicate[p])
                done += row("none", "forward", None, p, None, [], asked_type=atlas.name(kinds.most_common(1)[0][0], lang), **more)
                used.discard(("forward", None, p, None))
            else:
                done += row("none", "forward", rng.choice(clear), None, None, [], **more)
    halves = ["dev", "test"] * (len(rows) // 2 + 1)
    order = sorted(range(len(rows)), key=lambda i: (rows[i]["kind"], rows[i].get("reason", ""), rows[i]["style"], rng.random()))
    for half, index in zip(halves, order):
        rows[index]["split"] = half
    for number, item in enumerate(rows, 1):
        item["id"] = f"atlas-{lang}-{number:03d}"
        item["lang"] = lang
    return rows


if __name__ == "__main__":
    for item in sheet(sys.argv[1]):
        print(json.dumps(item, ensure_ascii=False, sort_keys=True))
