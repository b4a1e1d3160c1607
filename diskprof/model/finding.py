"""A thing noticed that changes how far a result can be trusted, or says what limits it."""

from dataclasses import dataclass
from enum import StrEnum


class Weight(StrEnum):
    """DOUBT: do not rely on this result. LIMIT: what held the result back. NOTE: good to know when reading it."""

    DOUBT = "doubt"
    LIMIT = "limit"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """`name` is the rule, `message` what was noticed, `evidence` the figures, `advice` what to do next; `test` its test's name.

    A finding is kept, exported and read anywhere, so its words are those of no surface: parameters, no options of a command line.
    """

    name: str
    weight: Weight
    message: str
    evidence: str
    advice: str
    test: str = ""
