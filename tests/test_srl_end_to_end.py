"""PriMeSRL as a new user runs it: files of systems and gold in, a report out, every number computed a second time here.

What is computed here reads the files by itself and follows the four rules of Jindal et al. (2022); nothing of Chorale
is used for it.
"""

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from chorale.cli import app

SENTENCES = 150
CORE, CONTEXT = ("A0", "A1", "A2"), ("AM-TMP", "AM-LOC", "AM-NEG")
VERBS = ("give", "take", "run", "hold", "turn_up")
Proposition = tuple[str, dict[int, str]]
"""A sense, and the role of each head."""
MISTAKES = {"careful": 0.05, "hasty": 0.3, "silent": 0.7}


def made_sentence(rng: Random) -> tuple[int, dict[int, Proposition]]:
    """How many words, and the propositions by the place of their verb."""
    words = rng.randint(6, 14)
    verbs = rng.sample(range(1, words + 1), rng.randint(0, 3))
    return words, {verb: (f"{rng.choice(VERBS)}.{rng.randint(1, 4):02}", made_roles(rng, words)) for verb in verbs}


def made_roles(rng: Random, words: int) -> dict[int, str]:
    """At most one argument of a role, some of them in two parts, or with a reference to them."""
    places = rng.sample(range(1, words + 1), words)
    roles: dict[int, str] = {}
    for role in (*CORE, *CONTEXT):
        if rng.random() < 0.4 and len(places) > 3:
            roles[places.pop()] = role
            if rng.random() < 0.25:
                roles[places.pop()] = f"C-{role}"
            if rng.random() < 0.25 and role in CORE:
                roles[places.pop()] = f"R-{role}"
    return roles


def disturbed(rng: Random, words: int, gold: dict[int, Proposition], share: float) -> dict[int, Proposition]:
    """What a system makes of it: verbs and arguments missed and invented, senses and roles taken for others."""
    found: dict[int, Proposition] = {}
    for verb, (sense, roles) in gold.items():
        if rng.random() < share / 3:
            continue
        kept = {place: role for place, role in roles.items() if rng.random() > share / 2}
        if rng.random() < share:
            kept = {place % words + 1: role for place, role in kept.items()}
        found[verb] = _sense(rng, sense) if rng.random() < share else sense, kept
    free = [place for place in range(1, words + 1) if place not in gold]
    if free and rng.random() < share / 3:
        found[rng.choice(free)] = f"{rng.choice(VERBS)}.01", made_roles(rng, words)
    return found


def _sense(rng: Random, sense: str) -> str:
    """Another verb with the same number, or another number of the same verb."""
    name, number = sense.rsplit(".", 1)
    return f"{rng.choice(VERBS)}.{number}" if rng.random() < 0.5 else f"{name}.{int(number) % 4 + 1:02}"


def write_conll09(path: Path, sentences: list[tuple[int, dict[int, Proposition]]]) -> Path:
    blocks = []
    for words, propositions in sentences:
        lines = []
        for place in range(1, words + 1):
            sense = propositions[place][0] if place in propositions else "_"
            cells = [str(place), f"w{place}", f"w{place}", f"w{place}", "X", "X", "_", "_"]
            cells += [*["0" if place == 1 else "1"] * 2, *["root" if place == 1 else "dep"] * 2]
            cells += ["Y" if sense != "_" else "_", sense]
            lines.append("\t".join([*cells, *(propositions[verb][1].get(place, "_") for verb in sorted(propositions))]))
        blocks.append("\n".join(lines) + "\n\n")
    path.write_text("".join(blocks), "utf-8")
    return path


# The second computation


class Argument(NamedTuple):
    role: str
    heads: frozenset[int]

    @property
    def is_core(self) -> bool:
        return any(letter.isdigit() for letter in self.role)


def read_conll09(path: Path) -> list[dict[int, tuple[str, dict[int, str]]]]:
    """The propositions of every sentence of a file."""
    sentences = []
    for block in path.read_text("utf-8").strip("\n").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n")]
        verbs = [int(row[0]) for row in rows if row[12] == "Y"]
        roles = {
            verb: {int(row[0]): row[14 + column] for row in rows if row[14 + column] != "_"}
            for column, verb in enumerate(verbs)
        }
        sentences.append({verb: (rows[verb - 1][13], roles[verb]) for verb in verbs})
    return sentences


def arguments(roles: dict[int, str]) -> set[Argument]:
    """Rule 3: `X` and `C-X` are one argument, with all their heads."""
    heads: dict[str, set[int]] = {}
    for place, role in roles.items():
        heads.setdefault(role.removeprefix("C-"), set()).add(place)
    return {Argument(role, frozenset(places)) for role, places in heads.items()}


def right_arguments(system: Proposition, gold: Proposition) -> set[Argument]:
    mine, wanted = arguments(system[1]), arguments(gold[1])
    right = mine & wanted
    # Rule 4: a reference needs what it refers to.
    for one in list(right):
        if one.role.startswith("R-"):
            named = one.role.removeprefix("R-")
            if {other for other in mine if other.role == named} != {other for other in wanted if other.role == named}:
                right.remove(one)
    # Rules 1 and 2: core arguments need the whole sense.
    return {one for one in right if system[0] == gold[0] or not one.is_core}


def primesrl(system: list[dict[int, Proposition]], gold: list[dict[int, Proposition]]) -> dict[str, tuple[int, ...]]:
    """For everything that is scored: right, returned, wanted."""
    counts: Counter[tuple[str, str]] = Counter()

    def add(kind: str, found: dict[int, Proposition]) -> None:
        counts["predicate_id", kind] += len(found)
        counts["sense", kind] += len(found)
        for proposition in found.values():
            add_arguments(kind, arguments(proposition[1]))

    def add_arguments(kind: str, some: set[Argument]) -> None:
        counts["argument", kind] += len(some)
        counts["core", kind] += sum(one.is_core for one in some)
        counts["context", kind] += sum(not one.is_core for one in some)

    for mine, wanted in zip(system, gold, strict=True):
        add("returned", mine)
        add("wanted", wanted)
        for verb in mine.keys() & wanted.keys():
            counts["predicate_id", "right"] += 1
            counts["sense", "right"] += mine[verb][0] == wanted[verb][0]
            add_arguments("right", right_arguments(mine[verb], wanted[verb]))
    names = ("predicate_id", "sense", "argument", "core", "context")
    return {name: tuple(counts[name, kind] for kind in ("right", "returned", "wanted")) for name in names}


def conll09(system: list[dict[int, Proposition]], gold: list[dict[int, Proposition]]) -> tuple[int, int, int]:
    """Every argument and every number of a sense is a dependency by itself."""

    def dependencies(sentence: dict[int, Proposition]) -> set[tuple[Any, ...]]:
        found: set[tuple[Any, ...]] = {(0, verb, sense.rsplit(".", 1)[1]) for verb, (sense, _) in sentence.items()}
        return found | {(verb, place, role) for verb, (_, roles) in sentence.items() for place, role in roles.items()}

    pairs = [(dependencies(mine), dependencies(wanted)) for mine, wanted in zip(system, gold, strict=True)]
    return (
        sum(len(mine & wanted) for mine, wanted in pairs),
        sum(len(mine) for mine, _ in pairs),
        sum(len(wanted) for _, wanted in pairs),
    )


def scores(right: int, returned: int, wanted: int) -> dict[str, float]:
    precision, recall = right / returned, right / wanted
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}


# The test


def run(*given: object) -> str:
    done = CliRunner().invoke(app, ["evaluate", "srl", *map(str, given)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_systems_are_scored_as_the_paper_says(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    gold = [made_sentence(rng) for _ in range(SENTENCES)]
    files = [
        write_conll09(
            tmp_path / f"{name}.conll09", [(words, disturbed(rng, words, found, share)) for words, found in gold]
        )
        for name, share in MISTAKES.items()
    ]
    files.append(write_conll09(tmp_path / "gold.conll09", gold))
    report = json.loads(run(*files, "--metric", "primesrl,conll09", "--json"))
    wanted = read_conll09(files[-1])
    f1 = {}
    for path in files[:-1]:
        found, system = report["systems"][path.stem], read_conll09(path)
        for name, counts in primesrl(system, wanted).items():
            assert found["primesrl"][name] == pytest.approx(scores(*counts)), (path.stem, name)
        assert found["conll09"]["labeled"] == pytest.approx(scores(*conll09(system, wanted))), path.stem
        f1[path.stem] = scores(*primesrl(system, wanted)["argument"])["f1"]
    ranked = sorted(f1, key=lambda name: -f1[name])
    assert report["ranks"]["primesrl"] == {name: ranked.index(name) + 1 for name in f1}
    # PriMeSRL is stricter than CoNLL-2009 about the same arguments, and the printed report has the same numbers.
    shown = run(*files, "--metric", "primesrl,conll09")
    for name, value in f1.items():
        assert name in shown and f"{value:.4f}"[:5] in shown.replace("%", "")
