"""Frame scores of a crowd or a system: how well each candidate frame fits a word in a sentence."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chorale.files.json_text import FlawError, parsed_json
from chorale.files.rows import Row
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, Source, digest_of, read_bytes, read_source, refused
from chorale.kits.frames.files.reading import RowReading, digest_of_files, is_zero, number_of, text_of
from chorale.model import UserError

_JSON = (".json", ".json.gz")
_USUAL_NAMES = {
    "score": ("fss_sent_centric", "fss", "score"),
    "sentence": ("sent_id", "sentence_id", "unit", "task", "id"),
    "frame": ("frame", "label"),
}
_INITIAL = ("fss_sent_centric_initial", "fss_initial", "score_initial")
_QUALITY = ("sqs", "uqs")
_IN_WORDS = {"score": "scores", "sentence": "the sentence", "frame": "the frame"}


@dataclass(frozen=True, slots=True, eq=False)
class FrameScores:
    """Parallel arrays with one entry per sentence and frame, sorted by both. Codes index the sorted names.

    Frame names are normalised: lower case, with underscores for spaces, so `Cause harm` becomes `cause_harm`.
    """

    sentences: tuple[str, ...]
    frames: tuple[str, ...]
    sentence: NDArray[np.intp]
    frame: NDArray[np.intp]
    score: NDArray[np.float64]
    quality: NDArray[np.float64] | None = None
    """SQS of each sentence, if the file has it."""
    digest: str = ""
    """Digest of the bytes of all files."""

    @classmethod
    def from_columns(
        cls,
        sentences: Sequence[str],
        frames: Sequence[str],
        scores: Sequence[float] | None = None,
        *,
        quality: Mapping[str, float] | None = None,
        digest: str = "",
    ) -> "FrameScores":
        """Builds scores from columns of equal length. Without scores, every listed frame has 1.

        >>> FrameScores.from_columns(["s1", "s1"], ["Motion", "Cause harm"], [0.2, 0.9]).frames
        ('cause_harm', 'motion')
        """
        values = np.ones(len(sentences)) if scores is None else np.asarray(scores, dtype=np.float64)
        if not len(sentences) == len(frames) == len(values):
            message = (
                f"columns must have the same length, but have {len(sentences)}, {len(frames)} and {len(values)} values"
            )
            raise ValueError(message)
        if not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError("scores must be numbers of at least 0")
        folded = [fold(frame) for frame in frames]
        names, known = tuple(sorted(set(sentences))), tuple(sorted(set(folded)))
        place = {name: number for number, name in enumerate(names)}
        code = {name: number for number, name in enumerate(known)}
        sentence = np.asarray([place[name] for name in sentences], dtype=np.intp)
        frame = np.asarray([code[name] for name in folded], dtype=np.intp)
        order = np.lexsort((frame, sentence))
        sentence, frame = sentence[order], frame[order]
        if ((sentence[1:] == sentence[:-1]) & (frame[1:] == frame[:-1])).any():
            raise ValueError("a frame occurs twice in one sentence")
        of_sentence = None if quality is None else np.asarray([quality[name] for name in names], dtype=np.float64)
        return cls(names, known, sentence, frame, values[order], of_sentence, digest)

    def only(self, sentences: Collection[str]) -> "FrameScores":
        """The scores of these sentences. Missing sentences are ignored."""
        wanted = frozenset(sentences)
        kept = np.asarray([name in wanted for name in self.sentences], dtype=np.bool_)
        rows = kept[self.sentence]
        return FrameScores(
            tuple(name for name in self.sentences if name in wanted),
            self.frames,
            (np.cumsum(kept) - 1)[self.sentence[rows]],
            self.frame[rows],
            self.score[rows],
            None if self.quality is None else self.quality[kept],
            self.digest,
        )


def fold(frame: str) -> str:
    return "_".join(frame.split()).casefold()


OPTIONS: Mapping[str, str] = {"score": "--score", "sentence": "--sentence", "frame": "--frame"}
"""Options of `chorale evaluate frames` that name the columns of a system's file."""
GOLD_OPTIONS: Mapping[str, str] = {**OPTIONS, "score": "--gold-score"}


def read_frame_scores(
    paths: Sequence[Path],
    *,
    sentence: str | None = None,
    frame: str | None = None,
    score: str | None = None,
    initial: bool = False,
    need_scores: bool = False,
    options: Mapping[str, str] | None = OPTIONS,
) -> FrameScores:
    """Reads scores from one file, or from several files with different sentences.

    A .csv, .tsv or .jsonl file has one row per sentence and frame. `sentence`, `frame` and `score` name its columns; by
    default, the column names of the published files are used. `initial` selects the scores before workers were
    weighted. A file without a score column lists the chosen frames, unless scores are required. A .json file is the
    output of `chorale aggregate --method crowdtruth --json`. `options` are the options of the command that name
    columns, for error messages; None if it has none.
    """
    named = {"score": score, "sentence": sentence, "frame": frame}
    columns = _WantedColumns(named, initial, need_scores or initial, options)
    reading = RowReading()
    scores: dict[tuple[str, str], float] = {}
    qualities: dict[str, float | None] = {}
    for path in paths:
        elsewhere = set(qualities)
        is_json = path.name.lower().endswith(_JSON)
        for line in _from_json(path, initial) if is_json else _from_rows(path, columns, reading):
            key = (line.sentence, fold(line.frame))
            if line.sentence in elsewhere:
                message, fix = "has a sentence that is also in another file", "Keep it in only one file."
                reading.report(path, line.number, message, fix, shortened(line.sentence))
            elif key in scores:
                message, fix = "repeats a sentence and frame", "Remove one of the rows."
                reading.report(path, line.number, message, fix, shortened(f"{line.sentence}, {line.frame}"))
            elif qualities.setdefault(line.sentence, line.quality) != line.quality:
                message = "has a different sentence quality than earlier rows of the sentence"
                fix = "Use the same quality in all rows of a sentence."
                reading.report(path, line.number, message, fix, shortened(line.quality))
            else:
                scores[key] = line.score
    more = len(reading.problems) - MOST_PROBLEMS
    reading.check("The frame scores can't be used" + (f" ({more:,} more problems)" if more > 0 else ""))
    if not scores:
        raise refused(paths[0], None, "has no frame scores", "Check the file name")
    complete = {name: value for name, value in qualities.items() if value is not None}
    return FrameScores.from_columns(
        [name for name, _ in scores],
        [name for _, name in scores],
        list(scores.values()),
        quality=complete if len(complete) == len(qualities) else None,
        digest=digest_of(read_bytes(paths[0])) if len(paths) == 1 else digest_of_files(paths),
    )


def sentence_of(column: str | None, row: Mapping[str, Any]) -> str | None:
    """The sentence of a table row. `column` is its column; by default, one of the usual names is used."""
    name = column or next((name for name in _USUAL_NAMES["sentence"] if name in row), "")
    return None if row.get(name) is None else str(row[name])


class _Line(NamedTuple):
    number: int | None
    sentence: str
    frame: str
    score: float
    quality: float | None


# Tables


@dataclass(frozen=True, slots=True)
class _WantedColumns:
    named: Mapping[str, str | None]
    initial: bool
    needed: bool
    """Whether scores are required."""
    options: Mapping[str, str] | None

    def among(self, path: Path, names: list[str]) -> dict[str, str | None]:
        columns = {"quality": next((name for name in _QUALITY if name in names), None)}
        for part, named in self.named.items():
            usual = _INITIAL if part == "score" and self.initial else _USUAL_NAMES[part]
            columns[part] = named if named is not None else next((name for name in usual if name in names), None)
            if columns[part] not in names and (named is not None or part != "score" or self.needed):
                missing = (
                    f"has no column {named!r}" if named else f"has no column with a usual name for {_IN_WORDS[part]}"
                )
                there = f"the columns {', '.join(names[:20])}"
                fix = f"Name the column {usual[0]}"
                if self.options is not None:
                    fix += f", or set it with {self.options[part]}"
                raise refused(path, 1, missing, fix, there)
        return columns


def _from_rows(path: Path, wanted: _WantedColumns, reading: RowReading) -> Iterator[_Line]:
    columns = None
    for row in reading.rows(path):
        columns = columns or wanted.among(path, list(row.values))
        line = _line(path, row, columns, reading)
        if line is not None:
            yield line


def _line(path: Path, row: Row, columns: Mapping[str, str | None], reading: RowReading) -> _Line | None:
    texts: list[str] = []
    numbers: list[float | None] = []
    for part in ("sentence", "frame"):
        value = row.values.get(columns[part] or "")
        texts.append(text_of(value))
        if part == "frame" and not texts[-1] and columns["score"] and is_zero(row.values.get(columns["score"])):
            return None
        if not texts[-1]:
            message, fix = f"has no valid value for {columns[part]!r}", "Fill it in, or remove the row."
            reading.report(path, row.line, message, fix, shortened(value))
            return None
    for part in ("score", "quality"):
        value = row.values.get(columns[part] or "")
        numbers.append(number_of(value) if columns[part] else None)
        if columns[part] and numbers[-1] is None:
            fix = "Write a number of at least 0, where 0 means that the frame does not apply."
            reading.report(path, row.line, f"has no number of at least 0 in {columns[part]!r}", fix, shortened(value))
            return None
    return _Line(row.line, texts[0], texts[1], 1.0 if numbers[0] is None else numbers[0], numbers[1])


# JSON


def _from_json(path: Path, initial: bool) -> Iterator[_Line]:
    source = read_source(path)
    for unit, values in _units(source).items():
        scores = values.get("uas_initial" if initial else "uas") if isinstance(values, dict) else None
        quality = number_of(values.get("uqs")) if isinstance(values, dict) else None
        if not isinstance(scores, dict) or quality is None:
            raise _not_crowdtruth(source, f"unit {unit!r}")
        for frame, value in scores.items():
            score = number_of(value)
            if score is None or not frame.strip():
                raise _not_crowdtruth(source, f"{frame!r} of unit {unit!r}")
            yield _Line(None, unit, frame, score, quality)


def _units(source: Source) -> dict[str, Any]:
    try:
        content = parsed_json(source.text)
    except FlawError as flaw:
        raise refused(source.name, None, flaw.message, "Run the command again", flaw.value) from None
    except (ValueError, RecursionError) as error:
        raise refused(source.name, None, "is not JSON", "Run the command again", shortened(str(error))) from None
    units = content.get("units") if isinstance(content, dict) else None
    if not isinstance(units, dict):
        raise _not_crowdtruth(source, "no units")
    return units


def _not_crowdtruth(source: Source, content: str) -> UserError:
    message = "is not the output of `chorale aggregate --method crowdtruth --json`"
    return refused(source.name, None, message, "Run the command again, or use a .csv, .tsv or .jsonl file", content)


# Qualities


def with_qualities(scores: FrameScores, path: Path) -> FrameScores:
    """The scores with the quality of each sentence, from the export `frames-sqs`.

    The file may have additional sentences, which may lack a quality.
    """
    reading = RowReading()
    wanted, qualities = frozenset(scores.sentences), dict[str, float]()
    for row in reading.rows(path):
        for column in ("sent_id", "sqs"):
            if column not in row.values:
                fix = "Use a file written by `chorale export --format frames-sqs`"
                raise refused(path, 1, f"has no column {column!r}", fix, f"the columns {', '.join(row.values)[:200]}")
        name, quality = str(row.values["sent_id"]).strip(), number_of(row.values["sqs"])
        if name in qualities:
            reading.report(path, row.line, "repeats a sentence", "Remove one of the rows.", name)
        elif quality is not None:
            qualities[name] = quality
        elif name in wanted:
            fix = "Write a number from 0 to 1, or leave the sentence out of the scores."
            reading.report(path, row.line, "has no sentence quality", fix, shortened(row.values["sqs"]))
    if not reading.problems and (missing := sorted(wanted - set(qualities))):
        fix = "Add the quality of every sentence that has scores."
        reading.report(
            path, None, f"is missing {len(missing):,} of {len(wanted):,} sentences", fix, shortened(missing[0])
        )
    reading.check(f"{path} can't be used")
    digest = digest_of("".join(sorted((scores.digest, digest_of(read_bytes(path))))).encode())
    return replace(scores, quality=np.asarray([qualities[name] for name in scores.sentences]), digest=digest)
