"""The question grammar and the forms of verbs on published data: what is different is listed."""

import csv
import gzip
import json
import sys
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest

from chorale.kits.qasrl.files import read_sentences
from chorale.kits.qasrl.grammar import Context, Parsed, complete, parse, render, suggest
from chorale.kits.qasrl.grammar.completing import MOST_SUGGESTED
from chorale.kits.qasrl.grammar.slots import Slots
from chorale.kits.qasrl.metrics import label_of
from chorale.kits.qasrl.metrics.questions import is_modal
from chorale.kits.qasrl.tasks.shared.answers import asked_question, canonical
from chorale.kits.qasrl.tasks.shared.predicates import forms_of
from chorale.kits.qasrl.tasks.shared.published import read_published
from chorale.text.inflections import VerbForms, inflect, verbs_of

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"
TABLES = {
    "qasrl-gs": ("wikinews.dev.gold.csv", "wikipedia.dev.gold.csv", "wikinews.dev.large_sample.ground_truth.csv"),
    "qanom": ("annot.dev.csv.gz",),
}
COLUMNS = (
    "wh",
    "aux",
    "subj",
    "obj",
    "obj2",
    "prep",
    "verb_prefix",
    "verb_slot_inflection",
    "is_passive",
    "is_negated",
)
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def bank(part: str) -> Iterator[dict[str, Any]]:
    """The verbs of one part of the QA-SRL Bank."""
    with gzip.open(DATA / "qasrl-bank" / f"{part}-dev.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            yield from json.loads(line)["verbEntries"].values()


def listed(what: str, rest: list[str], total: int) -> None:
    """Tell what is different (pytest -s shows it)."""
    share = 1 - len(rest) / total
    lines = [f"{what}: {total - len(rest):,} of {total:,} identical ({share:.4%}). The rest:", *rest]
    sys.stdout.write("\n  ".join(lines) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("part", ["orig", "dense"])
def test_questions_of_the_bank_are_understood_as_the_bank_has_them(part: str) -> None:
    total, rest = 0, []
    for verb in bank(part):
        forms = VerbForms.from_bank(verb["verbInflectedForms"])
        for question, label in verb["questionLabels"].items():
            total += 1
            found = parse(question, forms)
            ours = _told(found, forms) if isinstance(found, Parsed) else found.reason
            names = ("questionSlots", "tense", "isPerfect", "isProgressive", "isNegated", "isPassive")
            theirs = (*(label[name] for name in names), question)
            if ours != theirs:
                rest.append(f"{question}: {ours} instead of {theirs}")
    listed(f"The Bank, {part}", rest, total)
    assert total > 10_000
    assert len(rest) <= 0.001 * total


def _told(found: Parsed, forms: VerbForms) -> tuple[Any, ...]:
    flags = (found.is_perfect, found.is_progressive, found.is_negated, found.is_passive)
    return (found.slots.as_bank(), found.tense, *flags, render(found.slots, forms))


@pytest.fixture(scope="module")
def by_form() -> dict[str, list[VerbForms]]:
    """The verbs of the table that the annotators' tool had its forms from, by each form."""
    found: dict[str, list[VerbForms]] = {}
    with gzip.open(DATA / "inflections" / "en_verb_inflections.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            forms = VerbForms(*line.rstrip("\n").split("\t"))
            for form in set(forms.all()):
                found.setdefault(form, []).append(forms)
    return found


@pytest.mark.parametrize("folder", TABLES)
def test_slots_of_the_gold_standards_are_recovered(folder: str, by_form: dict[str, list[VerbForms]]) -> None:
    total, rest = 0, []
    for row in (row for name in TABLES[folder] for row in rows(DATA / folder / name) if row["question"]):
        total += 1
        ours = _slots(row, by_form)
        # Of some verbs the files do not have the inflection: nothing to compare.
        said = [column for column in COLUMNS if row.get("verb_slot_inflection") or column != "verb_slot_inflection"]
        wrong = {column: (ours.get(column), row[column]) for column in said if ours.get(column) != row[column]}
        if wrong:
            rest.append(f"{row['question']}: {wrong}")
    listed(folder, rest, total)
    assert total > 5_000
    assert len(rest) <= 0.001 * total


def rows(path: Path) -> Iterator[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def _slots(row: dict[str, str], by_form: dict[str, list[VerbForms]]) -> dict[str, str]:
    word = (row["verb"] if "verb" in row else row["verb_form"]).lower()
    for forms in (*by_form.get(word, ()), *verbs_of(word)):
        found = parse(row["question"], forms)
        if isinstance(found, Parsed):
            return found.slots.as_gold_standard(forms)
    return {}


def test_nearly_all_verbs_of_the_bank_get_its_forms() -> None:
    verbs = {VerbForms.from_bank(verb["verbInflectedForms"]) for part in ("orig", "dense") for verb in bank(part)}
    rest = [
        f"{' '.join(verb.all())}: {' '.join(inflect(verb.stem).all()[1:])}"
        for verb in verbs
        if inflect(verb.stem) != verb
    ]
    listed("Verbs of the Bank", sorted(rest), len(verbs))
    assert len(verbs) > 1_000
    assert len(rest) <= 0.005 * len(verbs)


@pytest.mark.slow
def test_most_verbs_of_the_inflection_table_get_its_forms(by_form: dict[str, list[VerbForms]]) -> None:
    """It has rare verbs, dialect and one of two spellings of many: it is no truth to follow in everything."""
    verbs = {verb for verbs in by_form.values() for verb in verbs}
    right = sum(inflect(verb.stem) == verb for verb in verbs)
    sys.stdout.write(f"The inflection table: {right:,} of {len(verbs):,} identical ({right / len(verbs):.2%})\n")
    assert right > 0.9 * len(verbs)


@pytest.mark.slow
def test_what_is_offered_leads_to_published_questions() -> None:
    """Somebody who always takes the longest right offer of the first eight, and types a word where there is none."""
    sentences = {row["qasrl_id"]: tuple(row["tokens"].split()) for row in rows(DATA / "qasrl-gs/wikinews.dev.full.csv")}
    verbs: dict[tuple[str, int, str], list[str]] = {}
    for row in rows(DATA / "qasrl-gs/wikinews.dev.gold.csv"):
        if row["question"]:
            verbs.setdefault((row["qasrl_id"], int(row["verb_idx"]), row["verb"]), []).append(row["question"])
    total = whole = taken = typed = 0
    for (sentence, place, word), questions in list(verbs.items())[:400]:
        able = [verb for verb in verbs_of(word) if all(isinstance(parse(one, verb), Parsed) for one in questions)]
        for number, question in enumerate(questions if able else ()):
            context = Context(sentences[sentence], place, tuple(questions[:number]))
            total += 1
            whole += question in [one.text for one in complete("", able[0], context)][:MOST_SUGGESTED]
            by_choice, by_hand = _written(question, able[0], context)
            taken, typed = taken + by_choice, typed + by_hand
    share = taken / (taken + typed)
    sys.stdout.write(
        f"{total:,} questions, {whole / total:.0%} offered whole at the start; {share:.0%} of steps taken\n"
    )
    assert total > 1_000
    assert share > 0.9
    assert whole > 0.3 * total


@pytest.mark.slow
@pytest.mark.parametrize(("part", "least", "least_held_out"), [("wikinews", 0.64, 0.6), ("wikipedia", 0.66, 0.64)])
def test_first_suggestions_ask_what_a_gold_question_asks(part: str, least: float, least_held_out: float) -> None:
    """By STRICT-MATCH, before anything was asked: of all verbs, and of documents that nothing was learnt from."""
    sentences = read_sentences(DATA / f"qasrl-gs/{part}.dev.full.csv")
    verbs = read_published([DATA / f"qasrl-gs/{part}.dev.gold.csv"], sentences).gold
    right = []
    for row in verbs:
        gold = {_label(row, asked["question"]) for asked in row["answer"]}
        first = suggest(forms_of(row), Context(tuple(row["tokens"]), row["verb_index"]))[0]
        right.append((_label(row, first) in gold, is_held_out(row["sentence_id"])))
    assert _share(f"{part}, all", [fits for fits, _ in right]) > least
    assert _share(f"{part}, held out", [fits for fits, held_out in right if held_out]) > least_held_out


@pytest.mark.slow
def test_first_suggestions_ask_what_dense_questions_ask_in_documents_that_no_rule_was_chosen_on() -> None:
    """Dense questions: all that five of six judges call valid."""
    right = []
    with gzip.open(DATA / "qasrl-bank/dense-dev.jsonl.gz", "rt", encoding="utf-8") as file:
        sentences = [json.loads(line) for line in file]
    for sentence in sentences:
        for verb in sentence["verbEntries"].values() if is_held_out(sentence["sentenceId"]) else ():
            forms = VerbForms.from_bank(verb["verbInflectedForms"])
            gold = {_bank_label(asked, forms) for asked in verb["questionLabels"].values() if _is_valid(asked)}
            first = suggest(forms, Context(tuple(sentence["sentenceTokens"]), verb["verbIndex"]))[0]
            found = parse(first, forms)
            assert isinstance(found, Parsed)
            right += [_slots_label(found.slots, forms) in gold] if gold else []
    assert _share("Dense, held out", right) > 0.725


def is_held_out(sentence: str) -> bool:
    """Whether the sentence is of one of the documents, half of all, at which nobody looked to choose a rule."""
    domain, *places = sentence.split(":")
    document = ":".join((domain, *places[:2])) if domain == "Wiki1k" else sentence.rpartition("_")[0]
    return bool(md5(document.encode(), usedforsecurity=False).digest()[0] % 2)


def _share(what: str, right: list[bool]) -> float:
    share = sum(right) / len(right)
    sys.stdout.write(f"{what}: {sum(right):,} of {len(right):,} first suggestions ({share:.1%})\n")
    return share


def _is_valid(asked: dict[str, Any]) -> bool:
    judges = asked["answerJudgments"]
    return bool(sum(judge["isValid"] for judge in judges) >= 5 / 6 * len(judges))


def _bank_label(asked: dict[str, Any], forms: VerbForms) -> tuple[str, str, str, str, str, bool]:
    return _slots_label(Slots.from_bank(asked["questionSlots"]), forms)


def _slots_label(slots: Slots, forms: VerbForms) -> tuple[str, str, str, str, str, bool]:
    """What STRICT-MATCH compares."""
    told = slots.as_gold_standard(forms)
    return told["wh"], told["subj"], told["obj"], told["is_negated"], told["is_passive"], is_modal(told["aux"])


def _label(row: dict[str, Any], question: str) -> tuple[str, str, str, bool, bool, bool]:
    [asked] = canonical([{"question": question, "answers": []}], row)
    return label_of(asked_question(asked))


def _written(question: str, forms: VerbForms, context: Context) -> tuple[int, int]:
    """How many offers are taken, and how many words typed."""
    text, taken, typed = "", 0, 0
    while text not in (question, question.removesuffix("?")):
        offered = [one.text for one in complete(f"{text} " if text else "", forms, context)[:8]]
        right = [one for one in offered if f"{question} ".startswith((f"{one} ", f"{one}?"))]
        if right:
            text, taken = max(right, key=len), taken + 1
        else:
            text, typed = " ".join(question.split()[: len(text.split()) + 1]), typed + 1
    return taken, typed
