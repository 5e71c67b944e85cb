"""Suggestions while an annotator writes a question: likely complete questions, and possible next pieces."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from itertools import product
from operator import ne
from typing import NamedTuple

from chorale.kits.qasrl.grammar.arguments import Arguments, arguments_in, has_passive, is_person_subject
from chorale.kits.qasrl.grammar.machine import LONGEST_QUESTION, Machine, Next, machine, words_of
from chorale.kits.qasrl.grammar.ranking import is_modal, likeliest
from chorale.kits.qasrl.grammar.sentence import Clause, clause_in, conjugated, prepositions_in
from chorale.kits.qasrl.grammar.slots import Parsed, Slots, as_question, render
from chorale.kits.qasrl.grammar.table import table
from chorale.text.inflections import VerbForms

MOST_SUGGESTED = 3
"""Number of complete questions suggested at once. More would hide the pieces."""
_PREPOSITIONS_ASKED = 3
_BEFORE_PREPOSITIONS = 2
_MOST_PIECES = 8
"""Maximum number of pieces that finish a question."""
_WH = {"someone": "who", "something": "what"}
_NOUN = {wh: noun for noun, wh in _WH.items()}
_FINITE = {"past": "past", "present": "presentSingular3rd"}
_LIKELY_MODAL = "might"
_SUGGESTED, _SAME_TENSE, _IN_SENTENCE, _END = 1000, 100, 60, 45


@dataclass(frozen=True, slots=True)
class Context:
    """Context of a new question: the sentence and the earlier questions."""

    tokens: tuple[str, ...] = ()
    verb_index: int | None = None
    """Position of the verb. Default: the first token that is one of its forms."""
    earlier: tuple[str, ...] = ()
    prepositions: tuple[str, ...] = ()
    """Prepositions allowed in addition to the usual ones."""
    ranked: tuple[str, ...] = ()
    """Questions of a parser, suggested before all others, likeliest first."""


class Completion(NamedTuple):
    """The question with one more piece."""

    text: str
    whole: bool
    """Whether the question is complete, with its question mark."""
    slot: str = ""
    """Slot that the piece fills; empty for a complete question and for the question mark."""


class _Known(NamedTuple):
    """Probable clause and arguments of the verb, and what was asked already."""

    clause: Clause
    arguments: Arguments
    has_passive: bool
    prepositions: tuple[str, ...]
    asked: frozenset[str]
    """Roles that earlier questions ask for, as in `Slots.asked_for`."""
    keys: frozenset[str]


def complete(prefix: str, forms: VerbForms, context: Context | None = None) -> list[Completion]:
    """All possible continuations, likeliest first: some complete questions, then pieces.

    >>> from chorale.text.inflections import inflect
    >>> [one.text for one in complete("", inflect("cut"), Context(earlier=("Who cut something?",)))][:2]
    ['What was cut?', 'What did someone cut?']
    >>> [one.text for one in complete("How long ", inflect("cut"))][:3]
    ['How long did someone cut something?', 'How long did', 'How long was']
    """
    if len(prefix) > LONGEST_QUESTION:
        return []
    context = context or Context()
    built = machine(forms, context.prepositions)
    likely = _likely(forms, context)
    wanted = " ".join(word.text for word in words_of(prefix))
    is_ready = not wanted or prefix[-1] in " \t\r\n\u00a0"
    typed = f"{wanted} " if wanted and is_ready else wanted
    suggested = [text for text in _suggested(forms, context) if text.lower().startswith(typed)]
    if typed and not suggested:
        suggested = _in_other_words(typed, forms, built, likely) or _finished(typed, built, likely)
    completions = [Completion(text, whole=True) for text in suggested[:MOST_SUGGESTED]]
    completions += _pieces(built, wanted, "", likely, suggested)
    if not is_ready:
        begun, _, partial = wanted.rpartition(" ")
        completions += _pieces(built, begun, partial, likely, suggested)
    # Of several with the same text, the first.
    offered: dict[str, Completion] = {}
    for completion in completions:
        offered.setdefault(completion.text, completion)
    return list(offered.values())


def _pieces(built: Machine, begun: str, partial: str, likely: _Known, suggested: Sequence[str]) -> list[Completion]:
    """The pieces that can follow the words and that start with a partly typed word."""
    paths = built.walk(begun.split(" ") if begun else ())
    scored: dict[Completion, int] = {}
    if not partial and built.ended(paths):
        scored[Completion(as_question(begun), whole=True)] = _END
    for piece in built.following(paths):
        if piece.text.startswith(partial) and piece.text != partial and _is_offered(piece, partial):
            text = f"{begun} {piece.text}" if begun else piece.text
            completion = Completion(text[:1].upper() + text[1:], whole=False, slot=piece.slot)
            scored[completion] = max(scored.get(completion, 0), _score(piece, text, likely, suggested))
    return sorted(scored, key=lambda completion: -scored[completion])


def _is_offered(piece: Next, partial: str) -> bool:
    """Two consecutive prepositions are suggested only if they are common or typed."""
    there = piece.after.slots.prep
    return piece.slot != "prep" or not there or bool(partial) or f"{there} {piece.value}" in table()["pairs"]


def _score(piece: Next, text: str, likely: _Known, suggested: Sequence[str]) -> int:
    score = piece.weight
    if piece.slot == "prep" and piece.value in likely.prepositions:
        score += _IN_SENTENCE - likely.prepositions.index(piece.value)
    if piece.slot == "aux":
        aux = table()["auxiliaries"][piece.value]
        if aux["tense"] == likely.clause.tense and ("negated" in aux) == likely.clause.negated:
            score += _SAME_TENSE
    if piece.slot == "verb" and piece.value == _FINITE.get(likely.clause.tense):
        score += _SAME_TENSE
    for number, whole in enumerate(suggested):
        if whole.lower().startswith((f"{text} ", f"{text}?")):
            return score + _SUGGESTED - number
    return score


# Whole questions


def suggest(forms: VerbForms, context: Context | None = None) -> list[str]:
    """Likely questions that have not been asked yet, based on earlier questions and the sentence.

    >>> from chorale.text.inflections import inflect
    >>> suggest(inflect("cut"), Context(earlier=("Who cut something?",)))[:3]
    ['What was cut?', 'What did someone cut?', 'When did someone cut something?']
    """
    return list(_suggested(forms, context or Context()))


@lru_cache(512)
def _suggested(forms: VerbForms, context: Context) -> tuple[str, ...]:
    likely = _likely(forms, context)
    built = machine(forms, context.prepositions)
    ranked = [parsed.slots for text in context.ranked if isinstance(parsed := built.parse(text), Parsed)]
    of_ranked = {slots.key() for slots in ranked}
    new = (
        render(slots, forms)
        for slots in (*ranked, *(slots for slots in _candidates(likely) if slots.key() not in of_ranked))
        if slots.asked_for() not in likely.asked and slots.key() not in likely.keys
    )
    return tuple(dict.fromkeys(new))


@lru_cache(512)
def _likely(forms: VerbForms, context: Context) -> _Known:
    tokens = [token.replace("’", "'") for token in context.tokens]  # helpers are listed as *'ll* and *n't*
    index = _place(tokens, forms) if context.verb_index is None else context.verb_index
    built = machine(forms, context.prepositions)
    parsed = [built.parse(question) for question in context.earlier]
    earlier = [one.slots for one in parsed if isinstance(one, Parsed)]
    if earlier:
        clause = Clause.of(earlier[-1])
        arguments = _after_earlier(guessed_arguments(tokens, index, forms, clause), earlier)
    else:
        clause, arguments = _read(tokens, index, forms)
    return _Known(
        clause,
        arguments,
        has_passive(forms),
        prepositions_in(tokens, index, context.prepositions),
        frozenset(slots.asked_for() for slots in earlier),
        frozenset(slots.key() for slots in earlier),
    )


def _read(tokens: Sequence[str], index: int, forms: VerbForms) -> tuple[Clause, Arguments]:
    """Probable first question: the result of the rules, corrected by a model of published questions."""
    clause = clause_in(tokens, index, forms)
    guessed = guessed_arguments(tokens, index, forms, clause)
    if not 0 <= index < len(tokens):
        return clause, guessed
    first = likeliest(tokens, index, forms, clause, guessed)
    subject, patient = ("someone", first.asked) if first.passive else (first.asked, first.object)
    if guessed.object_after_particle and not (first.passive or clause.passive):
        patient = guessed.object  # the published questions do not show the model whether *called off* has an object
    tense = _LIKELY_MODAL if first.modal and not is_modal(clause.tense) else clause.tense
    return replace(clause, passive=first.passive, tense=tense), guessed._replace(subject=subject, object=patient)


def guessed_arguments(tokens: Sequence[str], index: int, forms: VerbForms, clause: Clause) -> Arguments:
    """Result of the rules."""
    guessed = arguments_in(tokens, index, forms) if tokens else Arguments("someone", "something", "")
    if clause.passive:
        patient = "someone" if is_person_subject(tokens, index, forms) else "something"
        return guessed._replace(subject="someone", object=patient)
    return guessed


def _after_earlier(guessed: Arguments, earlier: Sequence[Slots]) -> Arguments:
    """Corrections from earlier questions."""
    latest = list(reversed(earlier))
    particle = guessed.particle if any(guessed.particle in slots.prep.split() for slots in earlier) else ""
    return Arguments(
        next((noun for noun in map(_actor, latest) if noun), guessed.subject),
        next((noun for slots in latest if (noun := _patient(slots, particle))), ""),
        particle,
        guessed.object_after_particle and bool(particle),
    )


def _place(tokens: Sequence[str], forms: VerbForms) -> int:
    return next((number for number, token in enumerate(tokens) if token.lower() in forms.all()), -1)


def _actor(slots: Slots) -> str:
    """The agent (*someone* or *something*) if the question shows it."""
    if slots.asked_for() == "subject":
        return _NOUN.get(slots.wh, "")
    if slots.is_passive:
        return slots.misc if slots.prep == "by" and slots.misc in _WH else ""
    return slots.subj if slots.subj in _WH else ""


def _patient(slots: Slots, particle: str) -> str:
    """The patient (*someone* or *something*) if the question shows it."""
    beside = bool(particle) and slots.prep == particle and not slots.is_passive
    if slots.asked_for() == "object" or (beside and slots.asked_for() == f"prep {particle}"):
        return _NOUN.get(slots.wh, "")
    noun = slots.subj if slots.is_passive else slots.obj or (slots.misc if beside else "")
    return noun if noun in _WH else ""


def _candidates(likely: _Known) -> list[Slots]:
    """General questions, filled with the arguments of this verb, in the order of `_ranked`."""
    subject, patient, particle, _ = likely.arguments
    active = replace(likely.clause, passive=False)
    passive = replace(likely.clause, passive=True)
    by_subject = [_asking(active, _WH[subject], "", patient)]
    by_object = []
    if patient:
        wh = _WH[patient]
        by_object = [_asking(passive, wh, "", "")] if likely.has_passive else []
        by_object.append(_asking(active, wh, subject, ""))
    rest = _asking(active, "when", subject, patient)
    if likely.clause.passive:
        rest = _asking(passive, "when", patient or "something", "")
    circumstances = [rest._replace(wh=wh) for wh in table()["suggested"]]
    among = [word for word in likely.prepositions if word != particle]
    if particle:
        among = [word for word in among if f"{particle} {word}" in table()["pairs"]]
    prepositions = [rest._replace(wh="what", prep=word) for word in among[:_PREPOSITIONS_ASKED]]
    return [
        _with_particle(slots, likely.arguments)
        for slots in _ranked(by_subject, by_object, circumstances, prepositions, likely)
    ]


def _in_other_words(typed: str, forms: VerbForms, built: Machine, likely: _Known) -> list[str]:
    """The likeliest new question that starts with the typed text, even with another auxiliary or noun."""
    words = typed.split()
    paths = built.walk(words)
    reached = [path.slots.aux for path in paths] or [
        piece.value if piece.slot == "aux" else piece.after.slots.aux
        for piece in built.following(built.walk(words[:-1]))
        if piece.text.startswith(words[-1])
    ]
    clauses = _clauses_with(dict.fromkeys(reached), likely)
    for nouns in _nouns_like(likely.arguments):
        for clause in clauses:
            for slots in _candidates(likely._replace(clause=clause, arguments=nouns)):
                text = render(slots, forms)
                is_new = slots.asked_for() not in likely.asked and slots.key() not in likely.keys
                if is_new and text.lower().startswith(typed):
                    return [text]
    return []


def _finished(typed: str, built: Machine, likely: _Known) -> list[str]:
    """The typed words, completed to a question with a few of the likeliest pieces.

    Empty if the question was asked before, or if too many pieces are missing.
    """
    text = typed.rstrip()
    for _ in range(_MOST_PIECES):
        if slots := _ended_with_object(text, built, likely):
            is_new = slots.asked_for() not in likely.asked and slots.key() not in likely.keys
            return [render(slots, built.forms)] if is_new else []
        begun, _, partial = text.rpartition(" ")
        onward = _pieces(built, text, "", likely, ())
        if not onward and text == typed:  # the last word is not finished
            onward = _pieces(built, begun, partial, likely, ())
        if not onward:
            break
        text = onward[0].text.lower()
    return []


def _ended_with_object(text: str, built: Machine, likely: _Known) -> Slots | None:
    """The question that ends here. A preposition without a noun gets one: *Who was charged with something?*

    Questions about a place or about the noun itself end with the preposition: *Where was she sent to?*, *Who was it
    cut by?*
    """
    ended = built.ended(built.walk(text.split()))
    if not ended:
        return None
    slots = ended[0]
    may_end = slots.wh == "where" or (slots.subj and slots.wh in table()["groups"]["argument"])
    if may_end or slots.misc or slots.prep in ("", likely.arguments.particle):
        return slots
    return next(iter(built.ended(built.walk(f"{text} something".split()))), slots)


def _clauses_with(auxiliaries: Iterable[str], likely: _Known) -> list[Clause]:
    """The clauses that may have one of the auxiliaries, those most similar to the likely one first."""
    own = likely.clause
    simple = Clause(passive=own.passive)
    tenses: dict[tuple[str, bool], None] = {}
    for name in auxiliaries:
        aux = table()["auxiliaries"].get(name)
        possible = [aux["tense"]] if aux else [own.tense, "past", "present"]
        tenses |= dict.fromkeys((tense, aux is not None and "negated" in aux) for tense in possible)
    clauses = [
        Clause(tense, perfect, progressive, negated, passive)
        for tense, negated in tenses
        for perfect, progressive, passive in product((False, True), repeat=3)
        if likely.has_passive or not passive
    ]

    def differences(clause: Clause) -> int:
        other = own if clause.tense == own.tense else simple
        return sum(map(ne, astuple(clause), astuple(other)))

    return sorted(clauses, key=differences)


def _nouns_like(likely: Arguments) -> list[Arguments]:
    """The likely arguments, then those with *someone* for *something* or the reverse."""
    other = {"someone": "something", "something": "someone", "": ""}
    subject = likely._replace(subject=other[likely.subject])
    patient = likely._replace(object=other[likely.object])
    return list(dict.fromkeys((likely, subject, patient)))


def _ranked(
    by_subject: list[Slots],
    by_object: list[Slots],
    circumstances: list[Slots],
    prepositions: list[Slots],
    likely: _Known,
) -> list[Slots]:
    """Likeliest first."""
    arguments = [*by_object, *by_subject] if likely.clause.passive else [*by_subject, *by_object]
    early, late = circumstances[:_BEFORE_PREPOSITIONS], circumstances[_BEFORE_PREPOSITIONS:]
    return [*arguments, *early, *prepositions, *late]


def _with_particle(slots: Slots, arguments: Arguments) -> Slots:
    """Adds the particle: *Who called something?* becomes *Who called off something?* for *called off*."""
    particle = arguments.particle
    if not particle:
        return slots
    prep = f"{particle} {slots.prep}".strip()
    if slots.obj and not slots.prep and arguments.object_after_particle:
        return slots._replace(obj="", prep=prep, misc=slots.obj)
    return slots._replace(prep=prep)


def _asking(clause: Clause, wh: str, subject: str, patient: str) -> Slots:
    aux, verb = conjugated(clause, inverted=bool(subject) or wh not in table()["groups"]["argument"])
    return Slots(wh, aux, subject, verb, patient)


def questions_alike(questions: Iterable[str], forms: VerbForms) -> list[tuple[int, int]]:
    """Pairs of question numbers that ask for the same role."""
    first: dict[str, int] = {}
    pairs = []
    for number, question in enumerate(questions):
        parsed = machine(forms).parse(question)
        if isinstance(parsed, Parsed) and first.setdefault(parsed.key, number) != number:
            pairs.append((first[parsed.key], number))
    return pairs
