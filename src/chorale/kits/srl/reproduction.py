"""Jindal et al. (2022), PriMeSRL-Eval: A Practical Quality Metric for Semantic Role Labeling Systems Evaluation.

The cases of Tables 1 to 3 are in the repository. The structures of Table 8 are built here as printed in the paper. The
system outputs for Tables 4 and 7 and the CoNLL corpora are not public.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from chorale.kits.srl.files import Corpus, Sentence, SrlArgument, SrlPredicate, as_spans, lemma_of, read_srl
from chorale.kits.srl.metrics import MetricOutcome, conll05, conll09, primesrl
from chorale.kits.srl.metrics.conll09 import sense_number
from chorale.reproduce.contract import Cell, NeededFile, Paper, PaperData, Repository

_DIGITS = 4
_STEPS = 3
_DIGESTS = {
    "sense/sense_test": "21ee224d",
    "sense/sense_pred_gold": "21ee224d",
    "sense/sense_pred_p1": "bf0ea030",
    "sense/sense_pred_p2": "b53ae4f2",
    "sense/sense_pred_p3": "b18f3317",
    "sense-c/sense_c_test": "864ace52",
    "sense-c/sense_c_pred_gold": "864ace52",
    "sense-c/sense_c_pred_p1": "370503df",
    "sense-c/sense_c_pred_p2": "1b2938d6",
    "sense-c/sense_c_pred_p3": "48b62dbc",
    "sense-c/sense_c_pred_p4": "b60d69e7",
    "sense-c/sense_c_pred_p5": "6925b612",
    "sense-c/sense_c_pred_p6": "14774989",
    "sense-c/sense_c_pred_p7": "9c1dedcd",
    "sense-r/sense_r_test": "0e150abe",
    "sense-r/sense_r_pred_gold": "0e150abe",
    "sense-r/sense_r_pred_p1": "574561bf",
    "sense-r/sense_r_pred_p2": "9360994b",
    "sense-r/sense_r_pred_p3": "b7db90d5",
    "sense-r/sense_r_pred_p4": "4ac9a2c2",
    "sense-r/sense_r_pred_p5": "91660438",
    "sense-r/sense_r_pred_p6": "fe94c037",
}

# The paper's fractions, for the gold and P1, P2, … in turn.
_TABLE_1 = {
    "predicate R, CoNLL09": "1/1 0/1 0/1 1/1",
    "predicate R, PriMeSRL": "1/1 0/1 0/1 0/1",
    "predicate P, CoNLL09": "1/1 0/1 0/1 1/1",
    "predicate P, PriMeSRL": "1/1 0/1 0/1 0/1",
    "argument R, CoNLL05": "3/3 3/3 3/3 0/3",
    "argument R, CoNLL09": "3/3 3/3 3/3 3/3",
    "argument R, PriMeSRL": "3/3 1/3 1/3 1/3",
    "argument P, CoNLL05": "3/3 3/3 3/3 0/3",
    "argument P, CoNLL09": "3/3 3/3 3/3 3/3",
    "argument P, PriMeSRL": "3/3 1/3 1/3 1/3",
}
_TABLE_2 = {
    "head R, CoNLL09": "4/4 3/4 3/4 2/4 2/4 2/4 3/4 2/4",
    "head R, PriMeSRL": "3/3 2/3 2/3 2/3 3/3 1/3 3/3 2/3",
    "head P, CoNLL09": "4/4 3/4 3/4 2/4 2/4 2/4 3/4 2/3",
    "head P, PriMeSRL": "3/3 2/4 2/4 2/3 3/3 1/3 3/3 2/3",
    "span R, CoNLL05": "3/3 2/3 2/3 2/3 2/3 1/3 2/3 2/3",
    "span R, PriMeSRL": "3/3 2/3 2/3 2/3 3/3 1/3 3/3 2/3",
    "span P, CoNLL05": "3/3 2/4 2/4 2/3 2/4 1/3 2/3 2/3",
    "span P, PriMeSRL": "3/3 2/4 2/4 2/3 3/3 1/3 3/3 2/3",
}
_TABLE_3 = {
    "head R, CoNLL09": "3/3 2/3 2/3 1/3 2/3 2/3 1/3",
    "head R, PriMeSRL": "3/3 1/3 2/3 1/3 1/3 1/3 1/3",
    "head P, CoNLL09": "3/3 2/3 2/3 1/3 2/3 2/3 1/3",
    "head P, PriMeSRL": "3/3 1/3 2/3 1/3 1/3 1/3 1/3",
    "span R, CoNLL05": "3/3 2/3 2/3 1/3 2/3 1/3 1/3",
    "span R, PriMeSRL": "3/3 1/3 2/3 1/3 1/3 1/3 1/3",
    "span P, CoNLL05": "3/3 2/3 2/3 1/3 2/3 1/3 1/3",
    "span P, PriMeSRL": "3/3 1/3 2/3 1/3 1/3 1/3 1/3",
}
_TABLE_6 = "stare/look politeness/minimalism peel/peer drug/dropper overheat/soothe tire/hiring"

# In-domain and out-of-domain: F1 of senses; precision, recall and F1 of arguments.
_TABLE_4 = {
    "Conia et al., CoNLL09": "96.9 89.5 89.5 89.5 87.8 82.0 81.9 81.9",
    "Conia et al., PriMeSRL": "95.5 86.6 86.6 86.6 80.9 72.4 72.6 72.5",
    "Blloshmi et al. nested, CoNLL09": "97.1 89.3 81.9 85.4 89.7 82.8 75.7 79.1",
    "Blloshmi et al. nested, PriMeSRL": "96.4 86.8 79.8 83.1 86.7 75.7 69.9 72.7",
    "Blloshmi et al. flat, CoNLL09": "97.4 90.9 89.6 90.2 90.1 83.9 82.1 83.0",
    "Blloshmi et al. flat, PriMeSRL": "96.9 88.6 87.4 88.0 87.8 77.6 76.3 76.9",
    "Jindal et al., CoNLL09": "96.8 89.9 89.3 89.6 89.8 82.9 83.1 83.02",
    "Jindal et al., PriMeSRL": "95.5 86.8 86.3 86.55 83.4 73.9 74.3 74.1",
}
_TABLE_7 = {
    "Zhang et al. crf, CoNLL05": "100 86.5 88.3 87.4 100 79.0 81.1 80.0",
    "Zhang et al. crf, PriMeSRL": "100 86.1 87.8 87.03 100 78.7 80.8 79.7",
    "Zhang et al. crf2o, CoNLL05": "100 86.9 88.6 87.7 100 78.9 81.2 80.03",
    "Zhang et al. crf2o, PriMeSRL": "100 86.5 88.1 87.3 100 78.5 80.8 79.6",
    "Jindal et al., CoNLL05": "100 87.4 88.0 87.74 100 80.4 81.4 80.9",
    "Jindal et al., PriMeSRL": "100 86.8 87.1 87.0 100 79.7 80.5 80.1",
}
# Ranks in-domain and out-of-domain; drop with PriMeSRL for senses and arguments, in-domain and out-of-domain.
_RANKS_4 = {
    "Conia et al., CoNLL09": "3 3",
    "Conia et al., PriMeSRL": "2 4",
    "Blloshmi et al. nested, CoNLL09": "4 4",
    "Blloshmi et al. nested, PriMeSRL": "4 3",
    "Blloshmi et al. flat, CoNLL09": "1 2",
    "Blloshmi et al. flat, PriMeSRL": "1 1",
    "Jindal et al., CoNLL09": "2 1",
    "Jindal et al., PriMeSRL": "3 2",
}
_DROPS_4 = {
    "Conia et al.": "1.4 2.9 6.9 9.4",
    "Blloshmi et al. nested": "0.7 2.3 3.0 6.4",
    "Blloshmi et al. flat": "0.5 2.2 2.3 6.1",
    "Jindal et al.": "1.3 3.0 6.4 8.9",
}
_RANKS_7 = {
    "Zhang et al. crf, CoNLL05": "3 3",
    "Zhang et al. crf, PriMeSRL": "2 2",
    "Zhang et al. crf2o, CoNLL05": "2 2",
    "Zhang et al. crf2o, PriMeSRL": "1 3",
    "Jindal et al., CoNLL05": "1 1",
    "Jindal et al., PriMeSRL": "3 1",
}
_DROPS_7 = {"Zhang et al. crf": "0.4 0.3", "Zhang et al. crf2o": "0.4 0.4", "Jindal et al.": "0.7 0.8"}
_TABLE_8 = (
    ("buy.01", "sell.01", "3/3", "0/3"),
    ("buy.01", "buy_out.03", "2/3", "0/3"),
    ("buy_out.03", "buy_out.03", "3/3", "3/3"),
    ("buy.01", "buy_out.03", "2/3", "0/3"),
)
"""Gold and predicted sense of a verb with A0 and A1, with the scores of CoNLL09 and PriMeSRL."""
_TABLE_5 = {
    "CoNLL09 C-X": "0.77 1.05 0.88 1.15",
    "CoNLL09 R-X": "1.98 2.03 2.07 2.24",
    "CoNLL05 C-X": "1.22 1.24 1.71 0.91",
    "CoNLL05 R-X": "3.26 3.36 3.38 2.91",
}
_PARTS = [f"{domain} {score}" for domain in ("in-domain", "out-of-domain") for score in ("sense F1", "P", "R", "F1")]
_DOMAINS = ["in-domain rank", "out-of-domain rank"]
_DROPS = [f"{domain} drop of {what}" for domain in ("in-domain", "out-of-domain") for what in ("sense F1", "F1")]
_SPLITS = ["train", "dev", "test", "out-of-domain"]
_NO_OUTPUTS = "Neither the system output nor the corpus is public."
_LICENSED = "The corpus is licensed by the LDC."
_OTHER_RELEASE = (
    "The published case has 0/3: its conversion keeps the particle, so buy_out differs from buy. Here, as in the "
    "paper, the verb is buy."
)
_JOINED = (
    "With --spans joined, as in the published case, two adjacent R-A0 arguments become one span, and the value is 1/2."
)


def _cells(data: PaperData, progress: Callable[[int, int], None]) -> Iterator[Cell]:
    yield from _compared("Table 1", _TABLE_1, _released(data, "sense", "sense", 4), {"P1": _OTHER_RELEASE})
    progress(1, _STEPS)
    yield from _compared("Table 2", _TABLE_2, _released(data, "sense-c", "sense_c", 8), {})
    progress(2, _STEPS)
    yield from _compared("Table 3", _TABLE_3, _released(data, "sense-r", "sense_r", 7), {"P5": _JOINED})
    yield from _unknown("Table 4", _TABLE_4, _PARTS, _NO_OUTPUTS, 1)
    yield from _unknown("Table 4", _RANKS_4, _DOMAINS, _NO_OUTPUTS, 0)
    yield from _unknown("Table 4", _DROPS_4, _DROPS, _NO_OUTPUTS, 1)
    yield from _unknown("Table 5", _TABLE_5, _SPLITS, _LICENSED, 2)
    yield from _senses()
    yield from _unknown("Table 7", _TABLE_7, _PARTS, _NO_OUTPUTS, 1)
    yield from _unknown("Table 7", _RANKS_7, _DOMAINS, _NO_OUTPUTS, 0)
    yield from _unknown("Table 7", _DROPS_7, _DROPS[1::2], _NO_OUTPUTS, 1)
    yield from _table_8()
    progress(_STEPS, _STEPS)


def _released(data: PaperData, folder: str, stem: str, columns: int) -> list[Corpus]:
    """The gold, then the gold as a prediction, P1, P2, …"""
    names = ["test", "pred_gold", *(f"pred_p{number}" for number in range(1, columns))]
    return [read_srl(data.needed(f"primesrl/{folder}/{stem}_{name}.conllu"), "conllu") for name in names]


def _compared(table: str, cells: dict[str, str], corpora: Sequence[Corpus], reasons: dict[str, str]) -> Iterator[Cell]:
    gold, *systems = corpora
    ours = [_scores(system, gold) for system in systems]
    for row, fractions in cells.items():
        unit, _, metric = row.partition(", ")
        for column, (paper, scores) in enumerate(zip(fractions.split(), ours, strict=True)):
            name = "gold" if column == 0 else f"P{column}"
            reason = reasons.get(name, "") if metric == "CoNLL05" else ""
            if table == "Table 3" and not unit.endswith("P"):
                reason = ""
            yield Cell(table, f"{row}: {name}", float(Fraction(paper)), scores[metric, unit], _DIGITS, reason)


def _scores(system: Corpus, gold: Corpus) -> dict[tuple[str, str], float]:
    """Scores by metric and by their name in the tables."""
    heads, spans = (primesrl(system.sentences, gold.sentences, mode=mode) for mode in ("head", "span"))
    dependencies = conll09(system.sentences, gold.sentences)
    whole = conll05(as_spans(system, apart=True), as_spans(gold, apart=True))
    by_metric: dict[tuple[str, str], float] = {}

    def note(metric: str, unit: str, outcome: MetricOutcome, group: str) -> None:
        scores = outcome.scores()
        for letter, name in (("R", "recall"), ("P", "precision")):
            by_metric[metric, f"{unit} {letter}"] = scores[f"{group}{name}"]

    note("CoNLL09", "predicate", dependencies, "sense.")
    note("PriMeSRL", "predicate", heads, "sense.")
    for kind in ("argument", "head"):
        note("CoNLL09", kind, dependencies, "argument.")
        note("PriMeSRL", kind, heads, "argument.")
    note("PriMeSRL", "span", spans, "argument.")
    for kind in ("argument", "span"):
        note("CoNLL05", kind, whole, "")
    return by_metric


def _senses() -> Iterator[Cell]:
    """Table 6: senses with the correct number and the wrong verb."""
    pairs = [pair.split("/") for pair in _TABLE_6.split()]
    numbers = sum(sense_number(f"{one}.01") == sense_number(f"{other}.01") for one, other in pairs)
    yield Cell("Table 6", "senses right by CoNLL09, of 6", 6, numbers, 0)
    yield Cell("Table 6", "senses right by PriMeSRL, of 6", 0, sum(one == other for one, other in pairs), 0)


def _table_8() -> Iterator[Cell]:
    """The four structures of the table: number correct out of the sense and two arguments."""
    for number, (gold, predicted, existing, proposed) in enumerate(_TABLE_8, 1):
        system, expected = [_buying(predicted)], [_buying(gold)]
        ours = conll09(system, expected).scores()["labeled.recall"]
        yield Cell("Table 8", f"row {number}, CoNLL09", float(Fraction(existing)), ours, _DIGITS)
        totals = primesrl(system, expected).totals()
        share = (totals["senses"] + totals["core"]) / (totals["gold_predicates"] + totals["gold_core"])
        yield Cell("Table 8", f"row {number}, PriMeSRL", float(Fraction(proposed)), share, _DIGITS)


def _buying(sense: str) -> Sentence:
    arguments = (SrlArgument("A0", 0, 0), SrlArgument("A1", 2, 2))
    blank = ("_",) * 3
    return Sentence(1, 3, (SrlPredicate(1, lemma_of(sense), sense, arguments),), upos=blank, xpos=blank)


def _unknown(table: str, cells: dict[str, str], columns: Sequence[str], reason: str, digits: int) -> Iterator[Cell]:
    for row, values in cells.items():
        for column, value in zip(columns, values.split(), strict=True):
            yield Cell(table, f"{row}: {column}", float(value), None, digits, reason)


def _needed(name: str, digest: str) -> NeededFile:
    folder, _, stem = name.partition("/")
    return NeededFile(f"primesrl/{name}.conllu", f"tests/data/{folder}/input/{stem}.conllu", digest)


PAPER = Paper(
    name="jindal2022",
    title="PriMeSRL-Eval: A Practical Quality Metric for Semantic Role Labeling Systems Evaluation",
    repositories=(
        Repository(
            name="UniversalPropositions/PriMeSRL-Eval",
            address="https://github.com/UniversalPropositions/PriMeSRL-Eval",
            commit="c202f3a3f6e2dd1d25fe78a2d6c6b7da6106b442",
            licence="Apache-2.0",
            files=tuple(_needed(name, digest) for name, digest in _DIGESTS.items()),
        ),
    ),
    cells=_cells,
)
