"""Multiple-choice questions with answers of people and models, in the format of Nangia et al. (2021).

A .json file contains a list of records, a .jsonl file one record per line; both may be compressed (.gz). Fields:
`question_id` (or `example_id`), `options` (texts), `gold_answer` (`option2`: the writer's), `validation_data` (a list
of `{"worker_answer": "option2", "unanswerable": false}`) and `model_predictions` (a list of `[1, "model"]`, counted
from 0). `question`, `document` (or `passage`), `justification`, `worker_id`, `passage_id`, `passage_index` and
`protocol` are optional, for analyses of the texts.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chorale.files.json_text import DEEPEST_NESTING, UNSTORABLE_ESCAPE, FlawError, check_inside, not_json
from chorale.files.rows import suffix_of
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, Source, read_source
from chorale.model import Problem, UserError
from chorale.model.plural import plural

Codes = NDArray[np.int64]
MISSING = -1
_FEWEST_OPTIONS, _MOST_OPTIONS = 2, 100
_ANSWER = re.compile(r"option([1-9]\d{0,3})")


@dataclass(frozen=True, slots=True)
class McqText:
    """The texts of a question; empty if the file has none."""

    question: str
    passage: str
    options: tuple[str, ...]
    justification: str
    writer: str
    passage_id: str
    place: int | None
    """1 for the first question about its passage, 2 for the second."""
    protocol: str


@dataclass(frozen=True, slots=True, eq=False)
class McqQuestions:
    """Questions sorted by ID, so that results do not depend on the order of records. Answers are counted from 0."""

    ids: tuple[str, ...]
    writers: Codes
    """The answer that the writer of each question marked as correct."""
    votes: Codes
    """Number of validators per answer: questions × (maximum number of options + 1), the last column for "invalid"."""
    models: Mapping[str, Codes]
    """The answer of each model to each question, or `MISSING`."""
    words: NDArray[np.float64]
    """Number of words of every option, padded with NaN."""
    texts: tuple[McqText, ...] = ()
    validators: tuple[frozenset[str], ...] = ()
    """The voters on each question, if known."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def invalid(self) -> int:
        """The column of votes for "invalid question"."""
        return int(self.votes.shape[1]) - 1

    @property
    def with_writers(self) -> Codes:
        """The votes plus the answer of the writer."""
        votes = self.votes.copy()
        votes[np.arange(len(self)), self.writers] += 1
        return votes

    def majority(self) -> Codes:
        """The answer of more than half of validators and writer; `MISSING` without a majority or for "invalid"."""
        votes = self.with_writers
        most = votes.argmax(axis=1)
        kept = (2 * votes.max(axis=1) > votes.sum(axis=1)) & (most != self.invalid)
        return np.where(kept, most, MISSING)

    def columns(self) -> dict[str, dict[str, str]]:
        """Columns that group questions, by their names in files, if all questions have a value."""
        known = {
            "question_id": self.ids,
            "worker_id": [text.writer for text in self.texts],
            "passage_id": [text.passage_id for text in self.texts],
            "document": [text.passage for text in self.texts],
        }
        return {
            name: dict(zip(self.ids, values, strict=True)) for name, values in known.items() if values and all(values)
        }

    def by_protocol(self) -> "dict[str, McqQuestions]":
        """The questions grouped by protocol (arm), sorted by name."""
        places: dict[str, list[int]] = {}
        for place, text in enumerate(self.texts):
            places.setdefault(text.protocol, []).append(place)
        return {name: self._those(places[name]) for name in sorted(places)}

    def _those(self, places: list[int]) -> "McqQuestions":
        models = {name: answers[places] for name, answers in self.models.items()}
        return McqQuestions(
            ids=tuple(self.ids[place] for place in places),
            writers=self.writers[places],
            votes=self.votes[places],
            models={name: answers for name, answers in models.items() if (answers != MISSING).any()},
            words=self.words[places],
            texts=tuple(self.texts[place] for place in places),
            validators=tuple(self.validators[place] for place in places),
        )


@dataclass(frozen=True, slots=True)
class _Record:
    id: str
    writer: int
    votes: list[int]
    """Answers; the number of options stands for "invalid"."""
    validators: frozenset[str]
    predictions: dict[str, int]
    text: McqText


def read_mcq(path: Path) -> tuple[McqQuestions, Source]:
    """Reads the questions of a file, and the file itself. Raises a `UserError` that lists all problems."""
    source = read_source(path)
    doubtful = UNSTORABLE_ESCAPE.search(source.text) is not None
    problems: list[Problem] = []
    return _read(records_in(source, path, problems), source.name, problems, doubtful=doubtful), source


def mcq_of_records(records: Iterable[Mapping[str, Any]], name: str) -> McqQuestions:
    """Builds questions from records that are not in a file. `name` is used in messages."""
    objects = ((None, f"record {number:,}", one) for number, one in enumerate(records, 1))
    return _read(objects, name, [], doubtful=False)


def _read(
    objects: Iterable[tuple[int | None, str, Any]], name: str, problems: list[Problem], *, doubtful: bool
) -> McqQuestions:
    """`problems` may grow while the objects are read."""
    records: dict[str, _Record] = {}
    seen: set[str] = set()
    for line, place, values in objects:
        reader = _RecordReader(name, line, place, problems)
        if doubtful:
            reader.check_texts(values)
        record = reader.read(values)
        if record is not None:
            records.setdefault(record.id, record)
        if reader.id in seen:
            reader.report("has the same ID as another record", "Remove one of them", reader.id)
        elif reader.id is not None:
            seen.add(reader.id)
        if len(problems) >= MOST_PROBLEMS:
            break
    if not problems and not records:
        problems.append(Problem(name, None, "has no questions", "Check the file name."))
    if problems:
        raise UserError(f"{name} can't be used", problems)
    return _questions([records[one] for one in sorted(records)])


def _questions(records: list[_Record]) -> McqQuestions:
    most = max(len(record.text.options) for record in records)
    votes = np.zeros((len(records), most + 1), dtype=np.int64)
    words = np.full((len(records), most), np.nan)
    names = sorted({name for record in records for name in record.predictions})
    for number, record in enumerate(records):
        for vote in record.votes:
            votes[number, most if vote == len(record.text.options) else vote] += 1
        words[number, : len(record.text.options)] = [len(text.split()) for text in record.text.options]
    return McqQuestions(
        ids=tuple(record.id for record in records),
        writers=np.array([record.writer for record in records]),
        votes=votes,
        models={name: np.array([record.predictions.get(name, MISSING) for record in records]) for name in names},
        words=words,
        texts=tuple(record.text for record in records),
        validators=tuple(record.validators for record in records),
    )


class _RecordReader:
    """Reads one record and reports its errors."""

    def __init__(self, file: str, line: int | None, place: str, problems: list[Problem]) -> None:
        self._file, self._line, self._place, self._problems = file, line, place, problems
        self.id: str | None = None
        """ID of the record, once it is read."""

    def report(self, message: str, fix: str, value: Any = None) -> None:
        shown = None if value is None else shortened(value)
        self._problems.append(Problem(self._file, self._line, f"{self._place} {message}", f"{fix}.", shown))

    def check_texts(self, values: Any) -> None:
        try:
            check_inside(values)
        except FlawError as flaw:
            self._problems.append(
                Problem(self._file, self._line, f"{self._place} {flaw.message}", flaw.fix, flaw.value)
            )

    def read(self, values: Any) -> _Record | None:
        before = len(self._problems)
        if not isinstance(values, dict):
            self.report("is not an object", 'Write {"question_id": …}', values)
            return None
        name = values.get("question_id", values.get("example_id"))
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name:
            self.report("has no question_id", "Give it a unique ID", name)
            return None
        self.id = name
        self._place = f"{self._place} ({shortened(name)})"
        options = values.get("options")
        if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
            self.report("has no list of options", 'Write "options": ["…", "…"]', options)
            return None
        if not _FEWEST_OPTIONS <= len(options) <= _MOST_OPTIONS:
            self.report(
                f"has {plural(len(options), 'option', 'options')}",
                f"Write {_FEWEST_OPTIONS} to {_MOST_OPTIONS} options",
            )
            return None
        empty = next((place for place, option in enumerate(options, 1) if not option.strip()), None)
        if empty is not None:
            self.report(f"has no text in option{empty}", "Write the text of the option")
        writer = self._answer(values.get("gold_answer"), len(options), "gold_answer", may_be_invalid=False)
        votes = self._votes(self._list(values, "validation_data"), len(options))
        predictions = self._predictions(self._list(values, "model_predictions"), len(options))
        text = self._text(values, options)
        if len(self._problems) > before:
            return None
        workers = (vote.get("worker_id") for vote in values.get("validation_data") or ())
        validators = frozenset(worker for worker in workers if isinstance(worker, str))
        return _Record(name, writer, votes, validators, predictions, text)

    def _text(self, values: dict[str, Any], options: list[str]) -> McqText:
        def written(*keys: str) -> str:
            text = next((values[key] for key in keys if values.get(key) is not None), "")
            if not isinstance(text, str):
                self.report(f"has a {keys[0]} that is not text", f'Write "{keys[0]}": "…"', text)
                return ""
            return text

        place = values.get("passage_index")
        if place is not None and (isinstance(place, bool) or not isinstance(place, int) or place < 1):
            self.report("has a passage_index that is not a positive number", "Write 1 or 2, or remove it", place)
        return McqText(
            question=written("question"),
            passage=written("document", "passage"),
            options=tuple(options),
            justification=written("justification"),
            writer=written("worker_id"),
            passage_id=written("passage_id"),
            place=place,
            protocol=written("protocol"),
        )

    def _list(self, values: dict[str, Any], key: str) -> list[Any]:
        value = values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.report(f"has no list in {key}", f'Write "{key}": [ … ]', value)
            return []
        return value

    def _answer(self, value: Any, options: int, key: str, *, may_be_invalid: bool) -> int:
        match = _ANSWER.fullmatch(value) if isinstance(value, str) else None
        number = int(match[1]) - 1 if match else MISSING
        if not 0 <= number < options + may_be_invalid:
            last = f"option{options}" + (f", or option{options + 1} for invalid" if may_be_invalid else "")
            shown = "nothing" if value is None else value
            self.report(f"has a {key} that is not one of its options", f"Write option1 to {last}", shown)
        return number

    def _votes(self, votes: list[Any], options: int) -> list[int]:
        seen: set[str] = set()
        for worker in (vote["worker_id"] for vote in votes if isinstance(vote, dict) and "worker_id" in vote):
            # As text, because the value may have any type.
            if repr(worker) in seen:
                self.report("has two validations by the same worker", "Keep only one", worker)
                break
            seen.add(repr(worker))
        return [self._vote(vote, options) for vote in votes]

    def _vote(self, vote: Any, options: int) -> int:
        if not isinstance(vote, dict):
            self.report("has a validation that is not an object", 'Write {"worker_answer": "option1"}', vote)
            return MISSING
        unanswerable = vote.get("unanswerable", False)
        if not isinstance(unanswerable, bool):
            message = "has a validation in which `unanswerable` is neither true nor false"
            self.report(message, "Write true or false", unanswerable)
        if unanswerable is True:
            return options
        return self._answer(vote.get("worker_answer"), options, "worker_answer", may_be_invalid=True)

    def _predictions(self, pairs: list[Any], options: int) -> dict[str, int]:
        by_model: dict[str, int] = {}
        for pair in pairs:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str) and pair[1]):
                message = "has a prediction that is not an option number with the name of a model"
                self.report(message, 'Write [0, "model"]', pair)
            elif isinstance(pair[0], bool) or not isinstance(pair[0], int) or not 0 <= pair[0] < options:
                self.report("has a prediction that is not one of its options", f"Write 0 to {options - 1}", pair)
            elif pair[1] in by_model:
                self.report("has two predictions by the same model", "Remove one of them", pair[1])
            else:
                by_model[pair[1]] = pair[0]
        return by_model


def records_in(source: Source, path: Path, problems: list[Problem]) -> Iterator[tuple[int | None, str, Any]]:
    """Every record, with its line and its name in messages. Read errors are added to `problems`."""
    if suffix_of(path) in (".jsonl", ".ndjson"):
        for number, line in enumerate(source.text.split("\n"), 1):
            if line.strip():
                for value in _parsed(line, source.name, number, problems):
                    yield number, "the record", value
            if len(problems) >= MOST_PROBLEMS:
                return
        return
    for records in _parsed(source.text, source.name, 1, problems):
        if isinstance(records, list):
            for number, value in enumerate(records, 1):
                yield None, f"record {number:,}", value
        else:
            message, fix = "is not a list of records", "Enclose the records in [ … ]."
            problems.append(Problem(source.name, 1, message, fix, shortened(records)))


def _parsed(text: str, name: str, first_line: int, problems: list[Problem]) -> Iterator[Any]:
    """Parses the text as JSON. Reports a problem if it is invalid."""
    try:
        yield json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        near = shortened(text[max(0, error.pos - 20) : error.pos + 20])
        problems.append(Problem(name, line, not_json(error), "Correct the JSON.", near))
    except (ValueError, RecursionError):
        message = f"can't be read as JSON: overlong numbers or more than {DEEPEST_NESTING} levels"
        problems.append(Problem(name, first_line, message, "Remove overlong numbers and deep nesting."))
