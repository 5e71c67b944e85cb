"""How clear each sentence of a frame study is, from a file of its own: the export `frames-sqs`."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from chorale.files.rows import read_rows, shortened
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes, refused
from chorale.kits.frames.files.scores import FrameScores, number_of
from chorale.model import Problem, UserError

_SENTENCE, _QUALITY = "sent_id", "sqs"


def with_qualities(scores: FrameScores, path: Path) -> FrameScores:
    """The scores with the quality of each of their sentences, from the columns `sent_id` and `sqs`.

    The file may have more sentences, and those may have no quality yet.
    """
    problems: list[Problem] = []
    wanted, qualities = frozenset(scores.sentences), dict[str, float]()
    for row in read_rows(path, shown_as=str(path), problems=problems):
        for column in (_SENTENCE, _QUALITY):
            if column not in row.values:
                fix = "Give the file that `chorale export --format frames-sqs` writes"
                raise refused(path, 1, f"has no column {column!r}", fix, f"the columns {', '.join(row.values)[:200]}")
        name, quality = str(row.values[_SENTENCE]).strip(), number_of(row.values[_QUALITY])
        if name in qualities:
            problems.append(Problem(str(path), row.line, "has a sentence for the second time", "Remove one row.", name))
        elif quality is not None:
            qualities[name] = quality
        elif name in wanted:
            fix = "Write a number from 0 to 1, or leave the sentence out of the scores."
            value = shortened(row.values[_QUALITY])
            problems.append(Problem(str(path), row.line, "has no sentence quality", fix, value))
    if not problems and (missing := sorted(wanted - set(qualities))):
        fix = "Give the qualities of all sentences that have scores."
        message = f"lacks {len(missing):,} of {len(wanted):,} sentences"
        problems.append(Problem(str(path), None, message, fix, shortened(missing[0])))
    if problems:
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS])
    digest = digest_of("".join(sorted((scores.digest, digest_of(read_bytes(path))))).encode())
    return replace(scores, quality=np.asarray([qualities[name] for name in scores.sentences]), digest=digest)
