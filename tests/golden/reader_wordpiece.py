"""Golden values of BERT's tokenizer: tests/golden/reader/wordpiece.json and, from the benchmark data, wordpiece_data.json.

    python3 tests/golden/reader_wordpiece.py [DATA]

The definition is that of tokenization.py of google-research/bert (Devlin 2019) and of Hugging Face's BertTokenizer
(control characters: category C*; 100 characters a word; no NFC), over Python's own unicodedata. It stands here twice:
`pieces` keeps offsets, `plain_pieces` follows the published code line by line, and both must agree.

Characters that Unicode 15 (ICU 72) knows and Python's unicodedata does not yet are left out of the cases; the script
counts them in the data and prints them.
"""

import gzip
import hashlib
import json
import pathlib
import struct
import sys
import unicodedata

FOLDER = pathlib.Path(__file__).parent / "reader"
LONGEST_WORD = 100
VOCABULARIES = {  # file: lower case
    "bert-base-uncased-vocab.txt": True,
    "bert-base-cased-vocab.txt": False,
    "bert-base-chinese-vocab.txt": True,
    "bert-base-multilingual-cased-vocab.txt": False,
}
TEXTS_A_FILE = 3000


def is_control(c):
    return c not in "\t\n\r" and unicodedata.category(c).startswith("C")


def is_space(c):
    return c in " \t\n\r" or unicodedata.category(c) == "Zs"


def is_punctuation(c):
    n = ord(c)
    if 33 <= n <= 47 or 58 <= n <= 64 or 91 <= n <= 96 or 123 <= n <= 126:
        return True
    return unicodedata.category(c).startswith("P")


def is_ideograph(c):
    n = ord(c)
    return (0x4E00 <= n <= 0x9FFF or 0x3400 <= n <= 0x4DBF or 0x20000 <= n <= 0x2A6DF or 0x2A700 <= n <= 0x2B73F
            or 0x2B740 <= n <= 0x2B81F or 0x2B820 <= n <= 0x2CEAF or 0xF900 <= n <= 0xFAFF or 0x2F800 <= n <= 0x2FA1F)


# ---- as published, without offsets


def plain_pieces(text, vocabulary, lower):
    cleaned = []
    for c in text:
        if ord(c) == 0 or ord(c) == 0xFFFD or is_control(c):
            continue
        cleaned.append(" " if is_space(c) else c)
    spaced = "".join(f" {c} " if is_ideograph(c) else c for c in cleaned)
    split = []
    for token in spaced.split():
        if lower:
            token = token.lower()
            token = "".join(c for c in unicodedata.normalize("NFD", token) if unicodedata.category(c) != "Mn")
        output, new_word = [], True
        for c in token:
            if is_punctuation(c):
                output.append([c])
                new_word = True
            else:
                if new_word:
                    output.append([])
                new_word = False
                output[-1].append(c)
        split.extend("".join(x) for x in output)
    out = []
    for token in " ".join(split).split():
        if len(token) > LONGEST_WORD:
            out.append("[UNK]")
            continue
        bad, start, subs = False, 0, []
        while start < len(token):
            end, current = len(token), None
            while start < end:
                sub = token[start:end]
                if start > 0:
                    sub = "##" + sub
                if sub in vocabulary:
                    current = sub
                    break
                end -= 1
            if current is None:
                bad = True
                break
            subs.append(current)
            start = end
        out.extend(["[UNK]"] if bad else subs)
    return [vocabulary[piece] for piece in out]


# ---- with offsets: characters travel as (character, place in the text)


def lower_units(units):
    word = "".join(c for c, _ in units)
    lowered, out = word.lower(), []  # of the whole word: the final sigma looks around
    at = 0
    for c, place in units:
        for _ in range(len(c.lower())):
            out.append((lowered[at], place))
            at += 1
    assert at == len(lowered)
    return out


def strip_units(units):
    parts = [(d, place) for c, place in units for d in unicodedata.normalize("NFD", c)]
    ordered, run = [], []
    for unit in parts:
        if unicodedata.combining(unit[0]) == 0:
            ordered += sorted(run, key=lambda u: unicodedata.combining(u[0])) + [unit]
            run = []
        else:
            run.append(unit)
    ordered += sorted(run, key=lambda u: unicodedata.combining(u[0]))
    assert "".join(c for c, _ in ordered) == unicodedata.normalize("NFD", "".join(c for c, _ in units))
    return [u for u in ordered if unicodedata.category(u[0]) != "Mn"]


def word_pieces(word, vocabulary):
    """[(id, first character, after the last)] of one word."""
    if len(word) > LONGEST_WORD:
        return [(vocabulary["[UNK]"], 0, len(word))]
    out, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            found = vocabulary.get(("##" if start else "") + word[start:end])
            if found is not None:
                out.append((found, start, end))
                start = end
                break
        else:
            return [(vocabulary["[UNK]"], 0, len(word))]
    return out


KNOWN = {}


def pieces(text, vocabulary, lower):
    out, word = [], []

    def end_punctuated(units):
        if not units:
            return
        key = (id(vocabulary), "".join(c for c, _ in units))
        if key not in KNOWN:
            KNOWN[key] = word_pieces(key[1], vocabulary)
        for piece, begin, end in KNOWN[key]:
            out.append((piece, units[begin][1], units[end - 1][1] + 1))

    def end_word():
        units = word[:]
        word.clear()
        if lower and units:
            units = lower_units(units)
            if not all(u[0].isascii() for u in units):
                units = strip_units(units)
        run = []
        for unit in units:
            if is_punctuation(unit[0]):
                end_punctuated(run)
                end_punctuated([unit])
                run = []
            else:
                run.append(unit)
        end_punctuated(run)

    for place, c in enumerate(text):
        if c == "\0" or c == "\ufffd" or is_control(c):
            continue
        if is_space(c) or c.isspace():  # U+2028 and U+2029 are cut at by str.split alone
            end_word()
        elif is_ideograph(c):
            end_word()
            word.append((c, place))
            end_word()
        else:
            word.append((c, place))
    end_word()
    return out


CASES = [
    "",
    " \t\r\n",
    "UNwant\u00E9d,running",
    "Hello, world! It's 3.5% of $1,000 (approx.) -- isn't it?",
    "unaffable embeddings tokenization",
    "ah\u535A\u63A8zz",
    "\u4e2d\u56fd\u7684\u9996\u90fd\u662f\u5317\u4eac\u3002\u4eba\u53e3\u7ea62189\u4e07\uff1f",
    "\u81fa\u7063\u7684\u9996\u90fd\uff0c\u300c\u53f0\u5317\u300d\u3001\u8207\u9ad8\u96c4\u2026\u2026",
    "a\u0000b\u0001c\u007fd\u0085e\u00adf\u200bg\u200dh\ufeffi\ufffdj\u2060k\u061cl",
    "a\u00a0b\u1680c\u2003d\u202fe\u205ff\u3000g\u2028h\u2029i\u000bj\u000ck\u001cl",
    "\u180e mongolian \u180evowel",
    "caf\u00e9 cafe\u0301 CAF\u00c9 na\u00efve \u00c5ngstr\u00f6m A\u030angstro\u0308m \u1e69 s\u0323\u0307 s\u0307\u0323",
    "\u0301leading mark, e\u0301\u0302\u0303\u0327 stack, \u0301",
    "\u039f\u0394\u039f\u03a3 \u03a3 \u03a3\u03a3 \u0391\u03a3. \u0391\u03a3\u0301 \u0391\u0301\u03a3\u0391 .\u03a3 1\u03a3 \u0391\u03a3'\u0391 \u0391\u03a3'",
    "\u0130stanbul I\u0131\u0130i \u01c5 \u01c4 \u1e9e\u00df \ufb01ne \u212a\u212b \u2126 \u00aa\u00ba",
    "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab \uac00\uac01 \u3131",
    "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c\u3001\u30ab\u30bf\u30ab\u30ca\u304c\u30d1 \uff76\uff9e",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u060c \u0643\u064e\u062a\u064e\u0628\u064e\u061f \u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd \u200fabc\u200e",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u093c \u0958 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0bb5\u0ba3\u0b95\u0bcd\u0b95\u0bae\u0bcd",
    "\U0001F600 \U0001F469\u200D\U0001F4BB a\U0001F44D\U0001F3FDb \u2764\ufe0f \U0001F1E8\U0001F1F3 1\ufe0f\u20e3",
    "\U00020000\U0002A700\U0002F800\uf900\ufa0e\ufa6e\u3400\u4db5\u9fa5\u3007\u2e80\u31c0",
    "\U0001D400\U0001D41A \U00010400 \uff21\uff22\uff11 \u2160 \u00bd \u2460",
    "\ue000private\uf8ff \U000F0000x \u0378unassigned \ufdd0\uffff y\U0010ffff",
    "\u037e \u1fef \u0387 \u2260 \u226e \u0340 \u2019 \u201c\u201d \u2014 \u00a7 \u00b6 \u00ab \u00bb \u00bf \u00a1 \u20ac \u00b1 ^ ` ~ | < = > + $",
    "\u302e\u0323\u302f a\u302f\u0301\u302e \U0001D165\U0001D16D \u1b44\u0301\u094d\u0301",
    "x" * 100 + " " + "y" * 101 + " " + "x" * 99 + "\u00e9" + " " + "x" * 99 + "e\u0301",
    "z" * 5000 + "," + "\u0301" * 300 + "q" + "\u0301\u0323" * 150,
    "[CLS] a [SEP] [MASK] [UNK] [PAD] ##ing # ## [unused1]",
    "http://www.example.com/a_b?c=d&e=f#g user@host \\ \"quoted\" {x}[y]",
    "e\u200b\u0301 \u00ad\u0301a A\u00ad\u03a3\u00ad b\u034fc",
    "\r\n\r\nEnd of the line\u2028next\u2029par\u0009tab",
]


def tiny_vocabulary():
    """Small enough to be committed, and every rule of the definition shows in it."""
    listed = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    listed += list(letters) + ["##" + c for c in letters]
    listed += list("ABCDEIOS") + ["##A", "##E", "##S", "##\u00e9", "\u00e9"]
    listed += list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    listed += ["un", "##want", "##ed", "##aff", "##able", "run", "##ning", "hello", "Hello", "world", "it", "em", "##bed",
               "##ding", "##s", "token", "##ization", "cafe", "caf", "fine", "istanbul", "lo", "##\u00adx", "approx"]
    listed += list("\u535a\u63a8\u4e2d\u56fd\u7684\u9996\u90fd\u5317\u4eac\u3002\uff1f\uff0c\u300c\u300d\u3001\u53f0\u8c48\U00020000")
    listed += ["\u03c3", "\u03c2", "##\u03c3", "##\u03c2", "\u03b1", "##\u03b1", "\u03bf", "##\u03b4", "##\u03bf", "\u03a3", "##\u03a3",
               "\u0391", "\u03c9", "\u1112", "##\u1161", "##\u11ab", "\u1100", "##\u11a8", "\ud55c", "##\uad6d", "\u0643", "##\u062a",
               "##\u0628", "\u064e", "##\u064e", "\U0001F600", "\u2764", "\u302e", "##\u302f", "##\u302e", "\u302f", "\u0301", "##\u0301",
               "i\u0307", "\u20ac", "\u2260", "##ing", "end", "of", "the", "line", "next", "par"]
    return list(dict.fromkeys(listed))


def coded(found):
    return {"ids": [p[0] for p in found], "begin": [p[1] for p in found], "end": [p[2] for p in found]}


def checked(text, vocabulary, lower):
    found = pieces(text, vocabulary, lower)
    assert [p[0] for p in found] == plain_pieces(text, vocabulary, lower), text
    return found


def load_vocabulary(path):
    listed = path.read_text(encoding="utf-8").split("\n")
    return {piece: i for i, piece in enumerate(listed[:-1])}


def write(name, value):
    FOLDER.mkdir(exist_ok=True)
    target = FOLDER / name
    target.write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("},{", "},\n{") + "\n")
    print(f"{name}: {target.stat().st_size} bytes")


def small_cases(data):
    listed = tiny_vocabulary()
    tiny = {piece: i for i, piece in enumerate(listed)}
    full = {name: load_vocabulary(data / "vocab" / name) for name in VOCABULARIES}
    cases = []
    for text in CASES:
        case = {"text": text, "tiny_uncased": coded(checked(text, tiny, True)), "tiny_cased": coded(checked(text, tiny, False))}
        for name, lower in VOCABULARIES.items():
            case[name] = coded(checked(text, full[name], lower))
        cases.append(case)
    write("wordpiece.json", {"vocabulary": listed, "cases": cases})


def texts_of(path):
    texts = []
    for article in json.loads(gzip.decompress(path.read_bytes()))["data"]:
        for paragraph in article["paragraphs"]:
            texts.append(paragraph["context"])
            texts += [question["question"] for question in paragraph["qas"]]
            if len(texts) >= TEXTS_A_FILE:
                return texts[:TEXTS_A_FILE]
    return texts


def digests(data):
    result, unknown = [], {}
    vocabularies = {name: load_vocabulary(data / "vocab" / name) for name in VOCABULARIES}
    for path in sorted((data / "reader").glob("*.json.gz")):
        if "predictions" in path.name:
            continue
        texts = texts_of(path)
        for c in set("".join(texts)):
            if unicodedata.category(c) == "Cn":
                unknown[hex(ord(c))] = unknown.get(hex(ord(c)), 0) + 1
        entry = {"file": path.name, "texts": len(texts), "characters": sum(map(len, texts)), "vocabularies": {}}
        for name, lower in VOCABULARIES.items():
            total, count = hashlib.sha256(), 0
            for i, text in enumerate(texts):
                found = (checked if i % 20 == 0 else pieces)(text, vocabularies[name], lower)
                count += len(found)
                total.update(struct.pack("<I", len(found)))
                total.update(b"".join(struct.pack("<III", *piece) for piece in found))
            entry["vocabularies"][name] = {"pieces": count, "sha256": total.hexdigest()}
        result.append(entry)
        print(entry["file"], entry["texts"], flush=True)
    print("characters that unicodedata", unicodedata.unidata_version, "does not know:", unknown)
    write("wordpiece_data.json", {"texts_a_file": TEXTS_A_FILE, "files": result})


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    small_cases(place)
    if "--small" not in sys.argv:
        digests(place)
