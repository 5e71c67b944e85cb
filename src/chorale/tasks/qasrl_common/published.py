"""Published QA-SRL data as items of a study: to ask about again, to consolidate, to validate, and as gold."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chorale.formats.qasrl import Bank, Qa, QuestionAnswers, Span, Verb, read_bank, read_table
from chorale.formats.rows import is_table
from chorale.formats.source import MOST_PROBLEMS
from chorale.formats.wording import many
from chorale.model import Problem, UserError
from chorale.tasks.qasrl_common.predicates import Predicate
from chorale.text.inflections import KEYS, VerbForms, verbs_of
from chorale.text.questions import Parsed, parse

Row = dict[str, Any]
SHOWN = 3
"""How many of the questions left out a note names."""
EXPLANATION = "This is what the published data have."


@dataclass(slots=True)
class Published:
    """The rows of four files that a study can use, and what there is to say about them."""

    predicates: list[Row] = field(default_factory=list)
    """For `qasrl-write`."""
    gold: list[Row] = field(default_factory=list)
    """The same with the published answers: for rounds, gold and rehearsals."""
    sets: list[Row] = field(default_factory=list)
    """For `qasrl-consolidate`: verbs that several people annotated, with what each of them has."""
    asked: list[Row] = field(default_factory=list)
    """For `qasrl-validate`."""
    notes: list[str] = field(default_factory=list)

    def files(self) -> dict[str, list[Row]]:
        """By name; none that would be empty."""
        named = {
            "predicates.jsonl": self.predicates,
            "gold.jsonl": self.gold,
            "consolidate.jsonl": self.sets,
            "validate.jsonl": self.asked,
        }
        return {name: rows for name, rows in named.items() if rows}


def read_published(path: Path, sentences: Mapping[str, tuple[str, ...]] | None = None) -> Published:
    """A CSV file of the gold standard's kind, or JSON lines of the QA-SRL Bank's. UserError if anything is wrong."""
    if is_table(path):
        table = read_table(path, sentences)
        known = {**table.sentences, **(sentences or {})}
        return _Converter(str(path), known, {}).converted(_by_worker(table), words=_words(table), notes=table.notes)
    bank = read_bank(path)
    return _Converter(str(path), bank.sentences, bank.forms).converted(_settled(bank))


def _words(table: QuestionAnswers) -> dict[Verb, str]:
    return dict(zip(table.verbs, table.words, strict=True))


def _by_worker(table: QuestionAnswers) -> dict[Verb, dict[str, list[Qa]]]:
    """What each worker has about each verb."""
    spans: dict[int, list[Span]] = defaultdict(list)
    for row, start, end in zip(*(column.tolist() for column in table.answers), strict=True):
        spans[row].append((start, end))
    found: dict[Verb, dict[str, list[Qa]]] = {verb: {} for verb in table.verbs}
    rows = zip(*(column.tolist() for column in table.rows), strict=True)
    for number, (verb, question, worker) in enumerate(rows):
        of_worker = found[table.verbs[verb]].setdefault(table.workers[worker], [])
        if question >= 0:
            of_worker.append(Qa(table.questions[question], tuple(spans[number]), table.workers[worker]))
    return found


def _settled(bank: Bank) -> dict[Verb, dict[str, list[Qa]]]:
    """The questions of people that enough judges call valid, with all their answers, as one annotation."""
    return {
        verb: {"": [Qa(one.question, one.spans) for one in judged if one.by_people and one.is_valid() and one.spans]}
        for verb, judged in bank.questions.items()
    }


class _Converter:
    def __init__(
        self, name: str, sentences: Mapping[str, Sequence[str]], forms: Mapping[Verb, Mapping[str, str]]
    ) -> None:
        self._name, self._sentences, self._forms = name, sentences, forms
        self._problems: list[Problem] = []
        self._left_out: list[str] = []
        self._unknown: set[str] = set()

    def converted(
        self,
        annotated: Mapping[Verb, Mapping[str, Sequence[Qa]]],
        words: Mapping[Verb, str] | None = None,
        notes: Sequence[str] = (),
    ) -> Published:
        found = Published(notes=list(notes))
        for verb in sorted(annotated):
            tokens = self._tokens(verb)
            if tokens is None:
                continue
            word = (words or {}).get(verb, "") or tokens[verb.token]
            questions = [qa.question.text for qas in annotated[verb].values() for qa in qas]
            row = self._predicate(verb, tokens, word, questions)
            if row is not None:
                self._add(found, row, annotated[verb])
            if len(self._problems) >= MOST_PROBLEMS:
                break
        if self._unknown:
            count = many(len(self._unknown), "sentence", "sentences")
            fix = "Name the file with the sentences with --sentences."
            self._tell(f"has {count} whose words are not known", fix, min(self._unknown))
        if self._problems:
            raise UserError(f"{self._name} can't be used", self._problems[:MOST_PROBLEMS])
        if self._left_out:
            named = "; ".join(f"“{text}”" for text in self._left_out[:SHOWN])
            count = many(len(self._left_out), "question is", "questions are")
            found.notes.append(f"{count} left out: the grammar does not know {named}.")
        return found

    def _tokens(self, verb: Verb) -> Sequence[str] | None:
        tokens = self._sentences.get(verb.sentence)
        if tokens is None:
            self._unknown.add(verb.sentence)
        elif verb.token >= len(tokens):
            fix = f"The sentence has {len(tokens)} tokens: the last is {len(tokens) - 1}."
            self._tell("has a verb outside its sentence", fix, str(verb))
            return None
        return tokens

    def _tell(self, message: str, fix: str, value: str) -> None:
        if not any((one.message, one.value) == (message, value) for one in self._problems):
            self._problems.append(Problem(self._name, None, message, fix, value))

    def _predicate(self, verb: Verb, tokens: Sequence[str], word: str, questions: Sequence[str]) -> Row | None:
        forms = self._forms_of(verb, word, questions)
        if forms is None:
            self._tell("has a verb whose forms are not known", "Correct verb_idx: does it point at the verb?", word)
            return None
        row = {
            "sentence_id": verb.sentence,
            "tokens": list(tokens),
            "verb_index": verb.token,
            "verb": word,
            "forms": forms.as_bank(),
        }
        try:
            Predicate.model_validate(row)
        except ValidationError as error:
            self._tell("has a sentence that can't be an item", f"{error.errors()[0]['msg']}.", verb.sentence)
            return None
        return {"id": str(verb), **row}

    def _forms_of(self, verb: Verb, word: str, questions: Sequence[str]) -> VerbForms | None:
        """From the file, or those that the most questions can be asked with: *left* is a form of leave, mostly."""
        given = self._forms.get(verb, {})
        if all(given.get(key) for key in KEYS):
            return VerbForms.from_bank(given)
        found = verbs_of(word)
        if len(found) < 2:
            return found[0] if found else None
        fits = [sum(isinstance(parse(text, forms), Parsed) for text in questions) for forms in found]
        return found[max(range(len(found)), key=lambda number: (fits[number], -number))]

    def _add(self, found: Published, row: Row, annotated: Mapping[str, Sequence[Qa]]) -> None:
        forms = VerbForms.from_bank(row["forms"])
        sets = [self._asked(annotated[worker], forms) for worker in sorted(annotated)]
        found.predicates.append(row)
        if len(sets) == 1 and sets[0]:
            found.gold.append({**row, "answer": sets[0], "explanation": EXPLANATION})
        elif sum(map(bool, sets)) > 1:
            found.sets.append({**row, "sets": [each for each in sets if each]})
        questions = {one["question"]: one for each in sets for one in each}
        if questions:
            found.asked.append({**row, "questions": list(questions.values())})

    def _asked(self, qas: Sequence[Qa], forms: VerbForms) -> list[Row]:
        """The questions as the grammar writes them, each once with all its answers."""
        spans: dict[str, set[Span]] = {}
        for qa in qas:
            parsed = parse(qa.question.text, forms)
            if isinstance(parsed, Parsed):
                spans.setdefault(parsed.text, set()).update(qa.spans)
            else:
                self._left_out.append(qa.question.text)
        return [
            {"question": text, "answers": [list(span) for span in sorted(answers)]}
            for text, answers in sorted(spans.items(), key=lambda one: (min(one[1]), one[0]))
        ]
