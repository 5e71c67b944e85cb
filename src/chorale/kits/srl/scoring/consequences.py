"""Effects of errors in senses and arguments on applications, as in Table 8 of Jindal et al. (2022).

Two kinds of predicates are listed: correct core arguments with a wrong sense, and the correct sense with a wrong core
argument. Each structure is written as the question it answers and as a statement that the sentence would entail.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chorale.kits.srl.files import Corpus, Sentence, SrlPredicate
from chorale.kits.srl.metrics.conll09 import sense_number
from chorale.kits.srl.metrics.wholes import CoreRoles, Mode, Whole, wholes
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model import UserError
from chorale.text.inflections import VerbForms, inflect

WRONG_SENSE, WRONG_ARGUMENTS = "right arguments, wrong sense", "right sense, wrong arguments"
NOTHING = "nothing"
_SHOWN = 12
_ACTOR, _PATIENT = "A0", "A1"


class Consequence(NamedTuple):
    """A question or an entailment that an application would get wrong."""

    system: str
    kind: str
    sentence: int
    line: int
    """Line of the sentence in the gold file."""
    text: str
    predicate: int
    word: str
    gold_sense: str
    system_sense: str
    points: int
    """Number of gold core arguments, plus one for the sense."""
    existing: int
    """Number correct if arguments are scored independently and only the number of the sense counts (CoNLL-2009)."""
    primesrl: int
    """Number correct by PriMeSRL."""
    application: str
    """`question` or `entailment`."""
    prompt: str
    predicted: str
    expected: str


class _Structure(NamedTuple):
    """A predicate with its core arguments as text, in sentence order."""

    sense: str
    word: str
    roles: Mapping[str, str]


def consequences_of(name: str, system: Corpus, gold: Corpus, mode: Mode, core: CoreRoles) -> Iterator[Consequence]:
    """All consequences of errors, in the order of the sentences."""
    if not all(sentence.forms for sentence in gold.sentences):
        raise UserError(f"{gold.name} has no words, so questions cannot be written. Omit --consequences.")
    for number, (theirs, ours) in enumerate(zip(system.sentences, gold.sentences, strict=True), 1):
        returned = {each.position: each for each in theirs.predicates}
        for expected in ours.predicates:
            other = returned.get(expected.position)
            if other is not None and expected != other:
                yield from _of_predicate(name, number, (theirs, other), (ours, expected), mode, core)


def _of_predicate(
    name: str,
    number: int,
    system: tuple[Sentence, SrlPredicate],
    gold: tuple[Sentence, SrlPredicate],
    mode: Mode,
    core: CoreRoles,
) -> Iterator[Consequence]:
    theirs, ours = (_core(*side, mode, core) for side in (system, gold))
    same_sense, same_arguments = system[1].sense == gold[1].sense, theirs == ours
    if same_sense == same_arguments or not ours:
        return
    right = len(theirs & ours)
    number_right = sense_number(system[1].sense) == sense_number(gold[1].sense)
    sentence, predicate = gold
    word = sentence.forms[predicate.position]
    answered, expected = (_structure(*side, sentence.forms, core) for side in (system, gold))
    pairs = _wrong_sense(answered, expected) if same_arguments else _wrong_arguments(answered, expected)
    for application, prompt, predicted, wanted in pairs:
        yield Consequence(
            name,
            WRONG_SENSE if same_arguments else WRONG_ARGUMENTS,
            number,
            sentence.line,
            sentence.text,
            predicate.position + 1,
            word,
            predicate.sense,
            system[1].sense,
            len(ours) + 1,
            right + number_right,
            right + 1 if same_sense else 0,
            application,
            prompt,
            predicted,
            wanted,
        )


def _core(sentence: Sentence, predicate: SrlPredicate, mode: Mode, core: CoreRoles) -> frozenset[Whole]:
    return frozenset(whole for whole in wholes(sentence, predicate, mode) if core.has(whole.label))


def _structure(sentence: Sentence, predicate: SrlPredicate, forms: Sequence[str], core: CoreRoles) -> _Structure:
    """The arguments with all tokens below each head, if the file marks heads and has a tree."""
    core_wholes = [
        whole for whole in wholes(sentence, predicate, "span") if core.has(whole.label) and whole.referred == -1
    ]
    core_wholes.sort(key=lambda whole: whole.place & -whole.place)
    roles: dict[str, str] = {}
    for whole in core_wholes:
        text = " ".join(form for place, form in enumerate(forms) if whole.place >> place & 1)
        roles.setdefault(whole.label, text)
    return _Structure(predicate.sense, forms[predicate.position], roles)


_Pair = tuple[str, str, str, str]


def _wrong_sense(system: _Structure, gold: _Structure) -> Iterator[_Pair]:
    """The gold question remains unanswered, and the system's question gets an answer that the sentence does not
    support.
    """
    label = next((label for label in (_ACTOR, _PATIENT) if label in gold.roles), min(gold.roles))
    asked, other = question(gold, label), question(system, label)
    if asked == other:  # Two senses of the same verb.
        asked, other = f"{asked} ({gold.sense})", f"{other} ({system.sense})"
    yield "question", asked, NOTHING, gold.roles[label]
    yield "question", other, system.roles.get(label, NOTHING), NOTHING
    yield from _entailments(system, gold)


def _wrong_arguments(system: _Structure, gold: _Structure) -> Iterator[_Pair]:
    for label in sorted({*system.roles, *gold.roles}):
        answered, expected = system.roles.get(label, NOTHING), gold.roles.get(label, NOTHING)
        if answered != expected:
            asking = gold if label in gold.roles else system
            yield "question", question(asking, label), answered, expected
    yield from _entailments(system, gold)


def _entailments(system: _Structure, gold: _Structure) -> Iterator[_Pair]:
    stated, meant = statement(system), statement(gold)
    if stated != meant:
        yield "entailment", stated, "yes", "no"
        yield "entailment", meant, "no", "yes"


# In words


class _Wording(NamedTuple):
    finite: str
    stem: str
    participle: str
    did: str
    was: str
    particle: str


def _wording(structure: _Structure) -> _Wording | None:
    """The verb of the sense in the tense of the sentence, or None if the word is not a verb there."""
    lemma, _, particle = (structure.sense.rpartition(".")[0] or structure.sense).partition("_")
    if not (lemma.isascii() and lemma.isalpha() and lemma.islower()):
        return None
    forms = inflect(lemma)
    present = _is_present(structure.word.lower(), forms)
    after = f" {particle.replace('_', ' ')}" if particle else ""
    finite = forms.present_singular_3rd if present else forms.past
    return _Wording(finite, forms.stem, forms.past_participle, *(("does", "is") if present else ("did", "was")), after)


def _is_present(word: str, forms: VerbForms) -> bool:
    """Tense of the word in the sentence, independent of the verb of the sense."""
    return word in (forms.stem, forms.present_singular_3rd) or (word.endswith("s") and not word.endswith("ss"))


def question(structure: _Structure, label: str) -> str:
    """The question that the structure answers with one of its arguments.

    >>> bought = _Structure("buy_out.03", "bought", {"A0": "XYZ", "A1": "the bonds"})
    >>> question(bought, "A0"), question(bought, "A1")
    ('Who or what bought out the bonds?', 'Who or what did XYZ buy out?')
    """
    others = {role: text for role, text in structure.roles.items() if role != label}
    said = _wording(structure)
    if said is None or label not in (_ACTOR, _PATIENT):
        known = ", ".join(f"{role} is “{text}”" for role, text in others.items())
        return f"What is {label} of {structure.sense}{f', where {known}' if known else ''}?"
    rest = "".join(f" {text}" for role, text in others.items() if role != _ACTOR)
    if label == _ACTOR:
        return f"Who or what {said.finite}{said.particle}{rest}?"
    if _ACTOR in others:
        return f"Who or what {said.did} {others[_ACTOR]} {said.stem}{said.particle}{rest}?"
    return f"Who or what {said.was} {said.participle}{said.particle}{rest}?"


def statement(structure: _Structure) -> str:
    """The statement that the sentence entails if the structure is correct.

    >>> statement(_Structure("sell.01", "bought", {"A1": "the bonds", "A0": "XYZ"}))
    'XYZ sold the bonds.'
    """
    said, roles = _wording(structure), dict(structure.roles)
    if said is None:
        return f"{structure.sense} has {', '.join(f'{role} “{text}”' for role, text in roles.items())}."
    actor = roles.pop(_ACTOR, None)
    if actor is None and _PATIENT in roles:
        verb = [roles.pop(_PATIENT), said.was, f"{said.participle}{said.particle}"]
    else:
        verb = [actor or "Someone", f"{said.finite}{said.particle}"]
    text = " ".join([*verb, *roles.values()])
    return f"{text[0].upper()}{text[1:]}."


# As tables


def counted(consequences: Sequence[Consequence]) -> dict[str, dict[str, int]]:
    """Number of predicates, questions and entailments of each kind, with the points of two scorers."""
    counts = {}
    for kind in (WRONG_SENSE, WRONG_ARGUMENTS):
        of_kind = [one for one in consequences if one.kind == kind]
        predicates = {(one.sentence, one.predicate): one for one in of_kind}.values()
        counts[kind] = {
            "predicates": len(predicates),
            "questions": sum(one.application == "question" for one in of_kind),
            "entailments": sum(one.application == "entailment" for one in of_kind),
            "points": sum(one.points for one in predicates),
            "existing": sum(one.existing for one in predicates),
            "primesrl": sum(one.primesrl for one in predicates),
        }
    return counts


def consequences_json(consequences: Sequence[Consequence]) -> dict[str, Any]:
    return {"counts": counted(consequences), "listed": [one._asdict() for one in consequences]}


def consequences_tables(name: str, consequences: Sequence[Consequence]) -> list[ScoreTable]:
    """The counts, and the first few consequences. The JSON and the CSV file have all consequences."""
    columns = ("predicates with", "number#", "questions#", "entailments#", "points#", "CoNLL-2009#", "PriMeSRL#")
    rows: list[Sequence[Cell]] = [(kind, *counts.values()) for kind, counts in counted(consequences).items()]
    shown: list[Sequence[Cell]] = [
        (one.sentence, one.word, f"{one.gold_sense} → {one.system_sense}", one.prompt, one.predicted, one.expected)
        for one in consequences[:_SHOWN]
    ]
    more = f" (the first {_SHOWN} of {len(consequences):,})" if len(consequences) > _SHOWN else ""
    listed = ("sentence#", "word", "gold → system", "question, or statement (entailed?)", "system", "expected")
    return [
        ScoreTable(f"Consequences of errors of {name}", columns, rows),
        ScoreTable(f"Errors of an application that uses {name}{more}", listed, shown),
    ]
