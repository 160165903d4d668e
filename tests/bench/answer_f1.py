"""F1 of answers by their words (SQuAD's official normalisation), or by their characters in Chinese."""
import collections
import re
import string
import unicodedata


def tokens(text, lang="en"):
    text = text.lower()
    if lang == "zh":
        return [c for c in text if unicodedata.category(c)[0] in "LN"]
    text = "".join(c for c in text if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1(said, wanted, lang="en"):
    """The best over the wanted answers."""
    best, a = 0.0, tokens(said, lang)
    for answer in wanted:
        b = tokens(answer, lang)
        same = sum((collections.Counter(a) & collections.Counter(b)).values())
        best = max(best, 2 * same / (len(a) + len(b)) if a and b else float(a == b))
    return best
