"""Senses and roles of a corpus that the frame files do not define."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from chorale.kits.srl.files import Corpus, SenseInventory
from chorale.kits.srl.metrics.wholes import NUMBERED
from chorale.metrics.score_table import Cell, ScoreTable

_SHOWN = 5


def outside_inventory(corpora: Mapping[str, Corpus], inventory: SenseInventory) -> dict[str, dict[str, Any]]:
    """For each corpus, the number of senses and numbered arguments that the frame files lack, most frequent first."""
    return {name: _outside(corpus, inventory) for name, corpus in corpora.items()}


def _outside(corpus: Corpus, inventory: SenseInventory) -> dict[str, Any]:
    senses: Counter[str] = Counter()
    roles: Counter[str] = Counter()
    predicates = numbered = 0
    for sentence in corpus.sentences:
        for predicate in sentence.predicates:
            predicates += 1
            known = inventory.roles.get(predicate.sense)
            if known is None:
                senses[predicate.sense] += 1
                continue
            names = [label for label, _, _ in predicate.arguments if NUMBERED.has(label)]
            numbered += len(names)
            roles.update(f"{predicate.sense} {name}" for name in map(_bare, names) if name not in known)
    return {
        "predicates": predicates,
        "unknown_senses": senses.total(),
        "numbered_arguments": numbered,
        "unknown_roles": roles.total(),
        "senses": dict(senses.most_common()),
        "roles": dict(roles.most_common()),
    }


def _bare(label: str) -> str:
    return label.rpartition("-")[2]


def inventory_table(outside: Mapping[str, Mapping[str, Any]]) -> ScoreTable:
    rows: list[Sequence[Cell]] = [
        (
            name,
            found["predicates"],
            found["unknown_senses"],
            ", ".join(list(found["senses"])[:_SHOWN]),
            found["numbered_arguments"],
            found["unknown_roles"],
            ", ".join(list(found["roles"])[:_SHOWN]),
        )
        for name, found in outside.items()
    ]
    columns = (
        "file", "predicates#", "unknown senses#", "most frequent senses", "numbered arguments#", "unknown roles#",
        "most frequent roles",
    )  # fmt: skip
    return ScoreTable("Senses and roles that the frame files do not define", columns, rows)
