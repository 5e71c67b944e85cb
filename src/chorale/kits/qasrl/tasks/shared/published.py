"""Published QA-SRL data as items of a study: to annotate again, to consolidate, to validate, and as gold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ValidationError

from chorale.files.rows import is_table, read_rows
from chorale.files.source import MOST_PROBLEMS
from chorale.kits.qasrl.files import Qa, QuestionAnswers, Span, Verb, joined, read_bank, read_table
from chorale.kits.qasrl.files.tabular import ANOTHER_NAME
from chorale.kits.qasrl.files.tokens import plain
from chorale.kits.qasrl.grammar import Parsed, parse
from chorale.kits.qasrl.tasks.shared.predicates import PredicateItem, forms_of, with_variants
from chorale.model import Problem, UserError
from chorale.model.plural import plural
from chorale.text.inflections import KEYS, VerbForms, verbs_of

Row = dict[str, Any]
SHOWN = 3
"""Maximum number of omitted questions listed in a note."""
EXPLANATION = "These are the published answers."


@dataclass(slots=True)
class Published:
    """The rows of four files for a study, with notes."""

    predicates: list[Row] = field(default_factory=list)
    """For `qasrl-write`."""
    gold: list[Row] = field(default_factory=list)
    """Items with the published answers, for training rounds, gold and simulation."""
    sets: list[Row] = field(default_factory=list)
    """For `qasrl-consolidate`: verbs with several annotators, with the questions of each."""
    asked: list[Row] = field(default_factory=list)
    """For `qasrl-validate`."""
    notes: list[str] = field(default_factory=list)

    def files(self) -> dict[str, list[Row]]:
        """Files by name, without empty ones."""
        named = {
            "predicates.jsonl": self.predicates,
            "gold.jsonl": self.gold,
            "consolidate.jsonl": self.sets,
            "validate.jsonl": self.asked,
        }
        return {name: rows for name, rows in named.items() if rows}


def read_published(paths: Sequence[Path], sentences: Mapping[str, tuple[str, ...]] | None = None) -> Published:
    """Reads CSV files like the gold standard, and JSONL files of the QA-SRL Bank. Raises UserError if a file is
    invalid.

    Annotations of the same verb in several files count as different annotators, to be consolidated.
    """
    banks = {path: read_bank(path) for path in paths if not is_table(path)}
    named = ((str(path), bank.sentences) for path, bank in banks.items())
    known = joined([("the sentences", sentences or {}), *named])
    sources = [
        _source(path, banks[path].answers(), banks[path].forms)
        if path in banks
        else _source(path, read_table(path, known), {})
        for path in paths
    ]
    everywhere = joined([("the sentences", known), *((str(one.path), one.sentences) for one in sources)])
    return _Converter(sources, everywhere).converted()


@dataclass(frozen=True, slots=True)
class _Source:
    """The content of one file."""

    path: Path
    annotated: Mapping[Verb, Mapping[str, Sequence[Qa]]]
    """By verb and worker."""
    sentences: Mapping[str, tuple[str, ...]]
    forms: Mapping[Verb, Mapping[str, str]]
    words: Mapping[Verb, str]
    notes: Sequence[str]


def _source(path: Path, table: QuestionAnswers, forms: Mapping[Verb, Mapping[str, str]]) -> _Source:
    words = dict(zip(table.verbs, table.words, strict=True))
    return _Source(path, table.by_worker(), table.sentences, forms, words, table.notes)


def _lines(path: Path) -> dict[str, int]:
    """First line of each sentence and, if the file has verbs, of each verb."""
    lines: dict[str, int] = {}
    for row in read_rows(path, shown_as=str(path), problems=[]):
        sentence = str(row.values.get("qasrl_id") or row.values.get("sentenceId") or "")
        index = next((row.values[name] for name in ("verb_idx", *ANOTHER_NAME) if name in row.values), None)
        for name in (sentence, f"{sentence}:{index}"):
            lines.setdefault(name, row.line)
    return lines


class _Converter:
    def __init__(self, sources: Sequence[_Source], sentences: Mapping[str, tuple[str, ...]]) -> None:
        self._sources, self._sentences = sources, sentences
        self._problems: list[Problem] = []
        self._left_out: list[str] = []
        self._lines: dict[Path, dict[str, int]] = {}

    def converted(self) -> Published:
        published = Published(notes=[note for source in self._sources for note in source.notes])
        unknown: dict[Path, set[str]] = {}
        for verb in sorted({verb for source in self._sources for verb in source.annotated}):
            of_verb = [source for source in self._sources if verb in source.annotated]
            tokens = self._sentences.get(verb.sentence)
            if tokens is None:
                unknown.setdefault(of_verb[0].path, set()).add(verb.sentence)
                continue
            row = self._predicate(verb, tokens, of_verb)
            if row is not None:
                self._add(published, row, of_verb, verb)
            if len(self._problems) >= MOST_PROBLEMS:
                break
        for path, names in unknown.items():
            count = plural(len(names), "sentence", "sentences")
            fix = "Use --sentences to add the file with the sentences."
            self._add_problem(path, min(names), f"has {count} whose words are unknown", fix, min(names))
        if self._problems:
            files = " and ".join(str(source.path) for source in self._sources)
            raise UserError(f"{files} can't be used", self._problems[:MOST_PROBLEMS])
        if self._left_out:
            named = "; ".join(f"“{text}”" for text in self._left_out[:SHOWN])
            more = "; …" if len(self._left_out) > SHOWN else ""
            count = plural(len(self._left_out), "question", "questions")
            published.notes.append(f"Left out {count} that the grammar does not accept: {named}{more}.")
        return published

    def _add_problem(self, path: Path, place: str, message: str, fix: str, value: str) -> None:
        """`place` is the sentence or the verb that the problem is about."""
        if path not in self._lines:
            self._lines[path] = _lines(path)
        lines = self._lines[path]
        line = lines.get(place, lines.get(place.rpartition(":")[0]))
        self._problems.append(Problem(str(path), line, message, fix, value))

    def _predicate(self, verb: Verb, tokens: Sequence[str], sources: Sequence[_Source]) -> Row | None:
        path = sources[0].path
        for source in sources:
            word = source.words.get(verb, "")
            if word and plain(word).lower() != plain(tokens[verb.token]).lower():
                fix = f"Correct verb_idx: token {verb.token}, counted from 0, is “{tokens[verb.token]}”."
                self._add_problem(source.path, str(verb), "has a verb_idx that does not match the verb", fix, word)
                return None
        forms = self._forms_of(verb, tokens[verb.token], sources)
        if forms is None:
            fix = "Check that verb_idx is the position of the verb."
            self._add_problem(path, str(verb), "has a verb with unknown forms", fix, tokens[verb.token])
            return None
        row = {
            "sentence_id": verb.sentence,
            "tokens": list(tokens),
            "verb_index": verb.token,
            "verb": tokens[verb.token],
            "forms": forms.as_bank(),
            **with_variants(forms, tokens[verb.token]),
        }
        try:
            PredicateItem.model_validate(row)
        except ValidationError as error:
            why = error.errors()[0]["msg"].removeprefix("Value error, ")
            self._add_problem(path, str(verb), "has a sentence that cannot become an item", f"{why}.", verb.sentence)
            return None
        return {"id": str(verb), **row}

    def _forms_of(self, verb: Verb, word: str, sources: Sequence[_Source]) -> VerbForms | None:
        """Verb forms from a file, or those that fit the most questions: *left* is usually a form of leave."""
        for source in sources:
            given = source.forms.get(verb, {})
            if all(given.get(key) for key in KEYS):
                return VerbForms.from_bank(given)
        candidates = verbs_of(word)
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        asked = [qa.question.text for source in sources for qas in source.annotated[verb].values() for qa in qas]
        fits = [sum(isinstance(parse(text, forms), Parsed) for text in asked) for forms in candidates]
        return candidates[max(range(len(candidates)), key=lambda number: (fits[number], -number))]

    def _add(self, published: Published, row: Row, sources: Sequence[_Source], verb: Verb) -> None:
        forms = forms_of(row)
        sets = [
            self._asked(source.annotated[verb][worker], forms)
            for source in sources
            for worker in sorted(source.annotated[verb])
        ]
        published.predicates.append(row)
        # A table row without a question means that there is nothing to ask. The Bank has no such rows.
        said_nothing = not sources[0].forms and not any(sources[0].annotated[verb].values())
        if len(sets) == 1 and (sets[0] or said_nothing):
            published.gold.append({**row, "answer": sets[0], "explanation": EXPLANATION})
        elif sum(map(bool, sets)) > 1:
            several = [each for each in sets if each]
            # The order must not reveal the writers.
            Random(str(verb)).shuffle(several)
            published.sets.append({**row, "sets": several})
        questions = {question["question"]: question for each in sets for question in each}
        if questions:
            published.asked.append({**row, "questions": list(questions.values())})

    def _asked(self, qas: Sequence[Qa], forms: VerbForms) -> list[Row]:
        """The distinct questions as normalised by the grammar, with all their answers."""
        spans: dict[str, set[Span]] = {}
        for qa in qas:
            parsed = parse(qa.question.text, forms)
            if isinstance(parsed, Parsed):
                spans.setdefault(parsed.text, set()).update(qa.spans)
            else:
                self._left_out.append(qa.question.text)
        return [
            {"question": text, "answers": [list(span) for span in sorted(answers)]}
            for text, answers in sorted(spans.items(), key=lambda asked: (min(asked[1]), asked[0]))
        ]
