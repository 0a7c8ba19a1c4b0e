"""Which of the two values of an outcome is the event."""

from __future__ import annotations

from collections.abc import Sequence

# Pairs of words, the event second, in lower case.
_OBVIOUS = frozenset(
    [
        *[("0", "1"), ("-1", "1"), ("false", "true"), ("f", "t"), ("n", "y"), ("n", "j")],
        *[("no", "yes"), ("nein", "ja"), ("nee", "ja"), ("nej", "ja"), ("nei", "ja")],
        *[("non", "oui"), ("no", "si"), ("no", "sí"), ("no", "sì"), ("nao", "sim"), ("não", "sim")],
        *[("nie", "tak"), ("ne", "ano"), ("ei", "kyllä"), ("nem", "igen")],
        *[("negative", "positive"), ("negativ", "positiv"), ("neg", "pos"), ("-", "+")],
        *[("absent", "present"), ("absence", "presence"), ("control", "case")],
        *[("alive", "dead"), ("alive", "died"), ("live", "die"), ("living", "dead")],
        *[("lived", "died"), ("survived", "died"), ("survivor", "dead"), ("survival", "death")],
        *[("lebend", "tot"), ("lebt", "tot"), ("lebend", "verstorben"), ("überlebt", "verstorben")],
        *[("well", "ill"), ("well", "sick"), ("healthy", "ill"), ("healthy", "sick")],
        *[("healthy", "diseased"), ("normal", "abnormal")],
        *[("gesund", "krank"), ("benign", "malignant"), ("benigne", "maligne")],
    ]
)


def obvious_event(values: Sequence[str]) -> str | None:
    """Return the event of a pair such as 0 and 1, no and yes or alive and dead; else None.

    Examples
    --------
    >>> from shortlist.classifier.event import obvious_event
    >>> obvious_event(["ja", "nein"]), obvious_event(["die", "live"]), obvious_event(["1", "2"])
    ('ja', 'die', None)
    """
    if len(values) != 2:
        return None
    for other, event in (tuple(values), tuple(reversed(values))):
        if (other.strip().lower(), event.strip().lower()) in _OBVIOUS:
            return event
    return None
