"""Golden values for tests/datasets_squad_test.cpp: an independent statement of the published definitions of SQuAD
1.1/2.0 (Rajpurkar 2016, 2018) and CMRC 2018 (Cui 2019). Writes tests/golden/squad_metric.json.

    python3 tests/golden/squad_metric.py
"""
import collections
import json
import os
import random
import re
import string

CMRC_PUNCTUATION = "-:_*^/\\~`+=，。：？！“”；’《》…·、「」（）－～『』"


def squad_normalise(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def squad_f1(a, b):
    a, b = squad_normalise(a).split(), squad_normalise(b).split()
    same = sum((collections.Counter(a) & collections.Counter(b)).values())
    return 0.0 if same == 0 else 2 * same / (len(a) + len(b))


def cmrc_bare(text):
    return "".join(c for c in text.lower().strip() if c not in CMRC_PUNCTUATION)


def cmrc_tokens(text):
    return re.findall(r"[\u4e00-\u9fa5]|[^\W\u4e00-\u9fa5]+(?:[.,'][^\W\u4e00-\u9fa5]+)*|[^\w\s]", cmrc_bare(text))


def cmrc_f1(a, b):
    a, b = cmrc_tokens(a), cmrc_tokens(b)
    runs = {tuple(a[i:j]) for i in range(len(a)) for j in range(i + 1, len(a) + 1)}
    longest = max((j - i for i in range(len(b)) for j in range(i + 1, len(b) + 1) if tuple(b[i:j]) in runs), default=0)
    return 0.0 if longest == 0 else 2 * longest / (len(a) + len(b))


def score(form, answer, right):
    words = squad_normalise if form == "squad" else cmrc_tokens
    bare = squad_normalise if form == "squad" else cmrc_bare
    right = [r for r in right if words(r)]
    if not right:
        return [float(not words(answer))] * 2
    f1 = squad_f1 if form == "squad" else cmrc_f1
    return [max(float(bare(answer) == bare(r)) for r in right), max(f1(answer, r) for r in right)]


ENGLISH = ["the Eiffel Tower", "Eiffel tower.", "A", "an apple", "1,000 metres", "1000 metres", "U.S.", "us", "the",
           "The–Who", "the “Who”", "café", "CAFÉ the", "end-to-end", "end to end", "  ", "", "12%", "over the top",
           "a\u00a0b", "theatre", "İstanbul", "straße", "\u3000the\u3000sun"]
CHINESE = ["北京大学", "大学北京", "《红楼梦》", "红楼梦", "1995年", "1995 年", "3.5公里", "Windows 95系统", "windows 95",
           "，。", "", "上海市、北京市", "上海北京", "U.S. Army", "約翰·史密斯", "约翰史密斯", "12,000人", "人12,000", "北京北京大学"]


def main():
    random.seed(4)
    rows = []
    for form, texts in (("squad", ENGLISH), ("cmrc", CHINESE)):
        for answer in texts:
            for right in texts:
                rows.append([form, answer, [right]] + score(form, answer, [right]))
        for _ in range(200):
            right = random.sample(texts, random.randint(0, 3))
            answer = random.choice(texts) + random.choice(["", " ", "", random.choice(texts)])
            rows.append([form, answer, right] + score(form, answer, right))
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "squad_metric.json")
    with open(place, "w", encoding="utf-8") as out:
        json.dump(rows, out, ensure_ascii=False, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
