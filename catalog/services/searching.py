"""What a search that finds nothing may have meant."""

from __future__ import annotations

import re

from django.contrib.postgres.search import TrigramSimilarity

from catalog.models import SearchWord

LEAST_ALIKE = 0.4
_WORD = re.compile(r"[^\W_]{3,60}")


def corrected(search: str) -> str:
    """The search with each unknown word replaced by the most similar known one; "" where nothing changes."""
    words = [_known(word) for word in _WORD.findall(search.lower())[:6]]
    said = " ".join(words)
    return said if words and said != " ".join(_WORD.findall(search.lower())[:6]) else ""


def _known(word: str) -> str:
    """The word where titles or employers have it, or begin so, else the one most like it, else itself."""
    if SearchWord.objects.filter(word__startswith=word).exists():
        return word
    alike = SearchWord.objects.filter(word__trigram_similar=word).annotate(
        likeness=TrigramSimilarity("word", word)
    )
    best = alike.filter(likeness__gte=LEAST_ALIKE).order_by("-likeness", "word").first()
    return best.word if best else word
