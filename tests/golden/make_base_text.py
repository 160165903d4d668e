#!/usr/bin/env python3
"""Writes base_text.tsv: random strings with their NFKC form, their folded form and their matching key, computed
with Python's unicodedata, apart from the C++ code. Columns: text, NFKC, NFKC + full case folding, match_key;
as \\uXXXX escapes where a tab, a line break or a backslash stands. Han characters are taken from those that no
table of variants touches."""
import random
import unicodedata as u

random.seed(20240611)

BLOCKS = [(0x20, 0x7E)] * 4 + [(0xA0, 0x24F)] * 3 + [
    (0x250, 0x2FF), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x5D0, 0x5EA), (0x620, 0x64F), (0x900, 0x94D),
    (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x209F), (0x20A0, 0x20F0), (0x2100, 0x218F),
    (0x2190, 0x22FF), (0x2460, 0x24FF), (0x2600, 0x26FF), (0x3000, 0x303F), (0x3041, 0x30FF), (0x3200, 0x33FF),
    (0xAC00, 0xAC80), (0xFB00, 0xFB4F), (0xFE00, 0xFE4F), (0xFF00, 0xFFEF), (0x1D400, 0x1D4FF), (0x1F300, 0x1F64F)]
PLAIN_HAN = "一二三中人大天山水火木土日月上下北京海南西江河湖春秋冬"
APOSTROPHES = set("'`\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u2018\u2019\u201b\u2032\ua78c\uff07")
TRADE_MARKS = set("\u00a9\u00ae\u2117\u2120\u2122")
LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
KEPT = set("+#&%$=")


def ignorable(c):
    p = ord(c)
    return (u.category(c) == "Cf" or 0xFE00 <= p <= 0xFE0F or 0xE0000 <= p <= 0xE0FFF or 0xFFF0 <= p <= 0xFFF8 or
            p in (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x3164, 0xFFA0))


def stripped_script(c):
    return u.name(c, "").split(" ")[0] in ("LATIN", "GREEK", "CYRILLIC", "MODIFIER") and script_letter(c)


def script_letter(c):
    # Modifier letters of no particular script keep their marks.
    return u.name(c, "").startswith(("LATIN", "GREEK", "CYRILLIC"))


def general_mark(c):
    p = ord(c)
    return any(a <= p <= b for a, b in ((0x300, 0x36F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF),
                                       (0xFE20, 0xFE2F)))


def separator(c):
    if ord(c) < 0x80:
        return not (c.isalnum() or c in KEPT)
    return u.category(c)[0] in "PZ" or u.category(c) in ("Cc", "Sk") or c in "\u2044\u2212\u2215\u2219\u22c5\ufffd"


def han(c):
    return "CJK" in u.name(c, "") and u.category(c)[0] in "LN" or c in "々〇〻" or "HANGZHOU" in u.name(c, "")


def fold(s):
    return u.normalize("NFKC", u.normalize("NFKC", s).casefold())


def key(s):
    s = "".join(c for c in s if c not in APOSTROPHES and c not in TRADE_MARKS and not ignorable(c))
    s = u.normalize("NFD", fold(fold(s)))
    out, base = [], "none"
    for c in s:
        if u.category(c) in ("Mn", "Me"):
            if base == "strip" or base == "none" and general_mark(c):
                continue
            out.append(c)
            continue
        base = "none" if not c.isalpha() else "strip" if stripped_script(c) else "keep"
        if c in APOSTROPHES:
            continue
        out.append(" " if separator(c) else LETTERS.get(c, c))
    words = u.normalize("NFC", "".join(out)).split(" ")
    joined = ""
    for word in (w for w in words if w):
        if joined and not han(joined[-1]) and not han(word[0]):
            joined += " "
        joined += word
    return joined


def escape(s):
    return "".join(c if c not in "\\\t\n\r\x85\u2028\u2029" else "\\u%04x" % ord(c) for c in s)


def random_text():
    out = ""
    for _ in range(random.randint(1, 4)):
        if random.random() < 0.15:
            out += "".join(random.choice(PLAIN_HAN) for _ in range(random.randint(1, 4)))
            continue
        a, b = random.choice(BLOCKS)
        for _ in range(random.randint(1, 5)):
            c = chr(random.randint(a, b))
            # Python's tables are of Unicode 14; what it does not know may have changed since.
            if u.category(c) in ("Cn", "Cs", "Co"):
                continue
            # Radicals and squared words decompose to Han characters that have variants.
            if any(han(d) for d in u.normalize("NFKC", c)):
                continue
            out += c
            if random.random() < 0.1:
                out += chr(random.randint(0x300, 0x33F))
    return out


with open(__file__.replace("make_base_text.py", "base_text.tsv"), "w", encoding="utf-8", newline="\n") as file:
    for _ in range(1500):
        text = random_text()
        nfkc = u.normalize("NFKC", text)
        file.write("\t".join(escape(s) for s in (text, nfkc, fold(text), key(text))) + "\n")
