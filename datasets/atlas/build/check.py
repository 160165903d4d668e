#!/usr/bin/env python3
"""Checks the built files of the atlas: form, labels, links, and facts that must agree with each other.

Prints one line a finding and ends with status 1 when there is any. Reads only what build.py writes: one subject a block,
one predicate a line.
"""
import collections
import gzip
import pathlib
import re
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent
FILES = sorted(list(OUT.glob("*.ttl")) + list(OUT.glob("*.ttl.gz")))
TOKEN = re.compile(r'\s*(?:(<[^>]*>)|("(?:[^"\\]|\\.)*"(?:@[A-Za-z-]+|\^\^\S+?)?)(?=[\s,;.]|$)|([,;.])(?=\s|$)|([^\s,;]+?)(?=,?\s|$))')
NO_CHINESE_NEEDED = {"class:City", "class:AdministrativeRegion"}
findings = []


def fail(*what):
    findings.append(" ".join(map(str, what)))


def parse(path):
    opener = gzip.open if path.name.endswith(".gz") else open
    prefixes, subject, predicate = {}, None, None
    with opener(path, "rt", encoding="utf-8") as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith("@prefix"):
                _, name, iri, _ = line.split()
                prefixes[name[:-1]] = iri[1:-1]
                continue
            tokens, pos, line = [], 0, line.rstrip()
            while pos < len(line):
                m = TOKEN.match(line, pos)
                if not m:
                    fail(path.name, "cannot read:", line[:120])
                    break
                tokens.append(m.group(0).strip())
                pos = m.end()

            def full(token):
                if token == "a":
                    return "rdf:type"
                if token.startswith("<"):
                    iri = token[1:-1]
                    return iri[len("urn:askbase:"):] if iri.startswith("urn:askbase:") else iri
                prefix = token.split(":", 1)[0]
                if prefix not in prefixes:
                    fail(path.name, "unknown prefix:", token)
                return token
            if subject is None:
                subject = full(tokens.pop(0))
            predicate = full(tokens.pop(0))
            for t in tokens:
                if t in (";", ","):
                    continue
                if t == ".":
                    subject = None
                elif t.startswith('"') or re.fullmatch(r"[-+]?[0-9.]+|true|false", t):
                    yield subject, predicate, t, False
                else:
                    yield subject, predicate, full(t), True


def text(value):
    m = re.fullmatch(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z-]+)|\^\^(\S+))?', value)
    return (m.group(1).replace('\\"', '"').replace("\\\\", "\\"), m.group(2), m.group(3)) if m else (value, None, None)


facts = collections.defaultdict(lambda: collections.defaultdict(list))
links, per_file, per_predicate = [], collections.Counter(), collections.Counter()
seen = set()
for path in FILES:
    for s, p, o, is_iri in parse(path):
        if (s, p, o) in seen:
            fail("stated twice:", s, p, o)
        seen.add((s, p, o))
        facts[s][p].append(o)
        per_file[path.name] += 1
        per_predicate[p] += 1
        if is_iri:
            links.append((s, p, o))

total = sum(per_file.values())
if total < 60000:
    fail("only", total, "facts")

labels = {}
for s, f in facts.items():
    types = f.get("rdf:type", [])
    if not types:
        fail("no type:", s)
    by_lang = collections.defaultdict(list)
    for v in f.get("rdfs:label", []):
        value, lang, _ = text(v)
        by_lang[lang].append(value)
    labels[s] = by_lang
    if len(by_lang["en"]) != 1:
        fail(s, "has", len(by_lang["en"]), "English labels")
    if len(by_lang["zh"]) > 1:
        fail(s, "has", len(by_lang["zh"]), "Chinese labels")
    if not by_lang["zh"] and not NO_CHINESE_NEEDED & set(types):
        fail("no Chinese label:", s)
    for v in f.get("rdfs:label", []) + f.get("skos:altLabel", []):
        value, lang, _ = text(v)
        if lang not in ("en", "zh", "zh-Hant"):
            fail(s, "label without a known language:", v)
        if value != value.strip() or not value:
            fail(s, "label with spaces around it:", v)
        if lang == "zh" and not re.search("[\u3400-\u9fff\U00020000-\U0002ffff]", value) and value != "u" and "GDP" not in value:
            if not value.startswith(("s", "CAS", "UTC", "ISO")):
                fail(s, "Chinese label without Chinese:", v)

for s, p, o in links:
    if o.startswith(("xsd:", "rdf:", "rdfs:")):
        continue
    if o not in facts:
        fail("link to nothing:", s, p, o)

# Predicates: every used one is declared, in both languages, with a range that its values meet.
for p in per_predicate:
    if p.startswith("p:") and p not in facts:
        fail("undeclared predicate:", p)
for s, f in facts.items():
    if not s.startswith("p:"):
        continue
    if not f.get("rdfs:range"):
        fail("no range:", s)
    for lang in ("en", "zh"):
        n = sum(text(v)[1] == lang for v in f.get("skos:altLabel", []))
        if n < 1:
            fail(s, "has no alias in", lang)
    if s not in per_predicate:
        fail("predicate without facts:", s)
    if "ab:unit" in f and {text(v)[1] for v in f["ab:unit"]} != {"en", "zh"}:
        fail(s, "needs its unit in both languages")
RANGES = {s: set(f.get("rdfs:range", [])) for s, f in facts.items() if s.startswith("p:")}
for s, f in facts.items():
    for p, values in f.items():
        ranges = RANGES.get(p)
        for v in values if ranges else ():
            value, lang, kind = text(v)
            if any(r.startswith("class:") for r in ranges):
                ok = set(facts.get(v, {}).get("rdf:type", [])) & ranges or (p == "p:discoverer" and v.startswith("org:")) \
                    or (p == "p:orbits" and v.startswith("planet:")) or (p == "p:partOf" and v.startswith("languageFamily:"))
            elif "xsd:integer" in ranges:
                ok = re.fullmatch(r"-?(0|[1-9][0-9]*)", v)
            elif "xsd:decimal" in ranges:
                ok = re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", v)
            elif "xsd:boolean" in ranges:
                ok = v in ("true", "false")
            elif "xsd:gYear" in ranges:
                ok = kind == "xsd:gYear" and re.fullmatch(r"[0-9]{4}", value)
            elif "rdf:langString" in ranges:
                ok = lang
            else:
                ok = v.startswith('"') and not lang and not kind
            if not ok:
                fail("value outside the range:", s, p, v)

# Names shared within a class make questions ambiguous. Cities and regions do share names; others must not.
for cls in sorted({t for f in facts.values() for t in f.get("rdf:type", [])} - NO_CHINESE_NEEDED - {"rdf:Property", "rdfs:Class"}):
    owners = collections.defaultdict(set)
    for s, f in facts.items():
        if cls in f.get("rdf:type", []):
            for v in f.get("rdfs:label", []) + f.get("skos:altLabel", []):
                value, lang, _ = text(v)
                owners[value.casefold(), "zh" if lang == "zh-Hant" else lang].add(s)
    for (name, lang), who in sorted(owners.items()):
        if len(who) > 1:
            fail(f"name shared in {cls}:", f"{name}@{lang}", *sorted(who))

# Facts that must agree.
countries = {s: f for s, f in facts.items() if "class:Country" in f.get("rdf:type", [])}
if len(countries) != 250:
    fail("countries:", len(countries), "instead of 250 (ISO 3166-1 and Kosovo)")
NO_CAPITAL = {"AQ", "BV", "HM", "UM", "TK", "IO", "HK", "MO"}
NO_PEOPLE = {"AQ", "BV", "HM", "UM", "GS"}
for s, f in countries.items():
    code = s.split(":")[1]
    for b in f.get("p:border", []):
        if s not in facts[b].get("p:border", []):
            fail("border of one side:", s, b)
        if b == s:
            fail("border with itself:", s)
    if f.get("p:landlocked") == ["true"] and not f.get("p:border"):
        fail("landlocked without neighbours:", s)
    for p in ("p:capital", "p:seatOfGovernment"):
        for c in f.get(p, []):
            if facts[c].get("p:country") != [s]:
                fail("capital in another country:", s, c, facts[c].get("p:country"))
            if not labels[c]["zh"]:
                fail("capital without a Chinese name:", s, c, labels[c]["en"])
    if not f.get("p:capital") and code not in NO_CAPITAL:
        fail("no capital:", s)
    if not f.get("p:population") and code not in NO_PEOPLE:
        fail("no population:", s)
    for p in ("p:area", "p:continent", "p:flagEmoji", "p:alpha2", "p:alpha3", "p:officialName", "p:unMember"):
        if not f.get(p) and (p, code) not in {}:
            fail("no", p, s)
    if not f.get("p:currency") and code != "AQ":
        fail("no currency:", s)
    if not f.get("p:topLevelDomain") and code != "EH":
        fail("no domain:", s)
    if not f.get("p:officialLanguage") and code not in ("AQ", "BV", "HM"):
        fail("no language:", s)
    for p in ("p:alpha2", "p:alpha3", "p:numericCode"):
        if len(f.get(p, [])) > 1:
            fail("two values:", s, p)
for p in ("p:alpha2", "p:alpha3", "p:symbol", "p:atomicNumber", "p:currencyCode", "p:languageCode", "p:languageCode2", "p:casNumber"):
    owners = collections.defaultdict(list)
    for s, f in facts.items():
        for v in f.get(p, []):
            owners[v].append(s)
    for v, who in owners.items():
        if len(who) > 1:
            fail("code used twice:", p, v, *who)
for s, f in facts.items():
    lat, lon = f.get("p:latitude"), f.get("p:longitude")
    if lat and not (-90 <= float(lat[0]) <= 90 and -180 <= float(lon[0]) <= 180):
        fail("coordinates:", s)
    if "class:City" in f.get("rdf:type", []):
        if not re.fullmatch(r"city:\d+", s) or len(f.get("p:country", [])) != 1 or not f.get("p:timeZone"):
            fail("city without country or time zone:", s)
    m, b = f.get("p:meltingPoint"), f.get("p:boilingPoint")
    if m and b and float(m[0]) > float(b[0]) and s not in ("element:C", "element:As"):
        fail("melts above its boiling point:", s, m, b)
    if m and b and f.get("p:phaseAtRoomTemperature"):
        t = 298.15
        state = "gas" if t > float(b[0]) else "liquid" if t > float(m[0]) else "solid"
        if f["p:phaseAtRoomTemperature"] != [f"phase:{state}"]:
            fail("phase against melting and boiling point:", s, m, b, f["p:phaseAtRoomTemperature"])
    if f.get("p:radius") and abs(2 * float(f["p:radius"][0]) - float(f["p:diameter"][0])) > 1e-6 * float(f["p:diameter"][0]):
        fail("diameter is not twice the radius:", s)
    if f.get("p:mass") and f.get("p:radius") and f.get("p:gravity"):
        g = 6.6743e-11 * float(f["p:mass"][0]) * 1e24 / (float(f["p:radius"][0]) * 1000) ** 2
        if abs(g - float(f["p:gravity"][0])) > 0.12 * g:
            fail("gravity against mass and radius:", s, round(g, 3), f["p:gravity"])
elements = [s for s, f in facts.items() if "class:ChemicalElement" in f.get("rdf:type", [])]
if len(elements) != 118:
    fail("elements:", len(elements))

if "--counts" in sys.argv:
    for name, n in sorted(per_file.items()):
        print(f"{n:8} {name}")
    for name, n in per_predicate.most_common():
        print(f"{n:8} {name}")
for f in findings:
    print(f)
print(f"{total} facts, {len(facts)} subjects, {len(findings)} findings")
sys.exit(1 if findings else 0)
