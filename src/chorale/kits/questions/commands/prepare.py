"""`chorale prepare mcq`"""

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.files.tables import write_jsonl
from chorale.files.targets import check_target, writing
from chorale.kits.questions.preparing import passages_of, passages_table
from chorale.metrics.options import Force, Seed
from chorale.model import UserError
from chorale.model.plural import plural

Texts = Annotated[
    list[Path],
    Argument(
        metavar="TEXT...",
        help="Plain text, .jsonl with text in each row, or folders of .txt files such as the Open American National "
        "Corpus.",
    ),
]
Genres = Annotated[list[str] | None, Option(metavar="NAME", help="Only texts of this genre. Repeatable.")]
Alike = Annotated[
    float,
    Option(
        metavar="SHARE",
        min=0.1,
        max=1.0,
        help="Minimum fraction of shared word trigrams for a duplicate passage.",
    ),
]
Sample = Annotated[int | None, Option(min=1, help="Number of passages to sample at random, balanced over genres.")]
Parts = Annotated[
    list[str] | None,
    Option(
        metavar="NAME=N",
        help="Sample N passages for NAME.jsonl in the folder --out; parts do not overlap. Repeatable.",
    ),
]
_MOST_LISTED = 10
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def mcq(
    texts: Texts,
    out: Annotated[Path, Option(metavar="PATH", help="Output file for the passages (.jsonl); with --part, a folder.")],
    genre: Genres = None,
    min_words: Annotated[int, Option(min=1, help="Minimum number of words per passage.")] = 60,
    max_words: Annotated[int, Option(min=2, help="Maximum number of words per passage.")] = 250,
    alike: Alike = 0.8,
    sample: Sample = None,
    part: Parts = None,
    seed: Seed = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Split texts into passages for a study of multiple-choice questions, without duplicates."""
    if min_words > max_words:
        raise UserError(
            f"--min-words {min_words} is greater than --max-words {max_words}. Lower --min-words or raise --max-words."
        )
    if part and sample:
        raise UserError("--sample and --part both set the number of passages. Use only one of them.")
    parts = _parts(part or [])
    targets = {name: out / f"{name}.jsonl" for name in parts} or {"": out}
    for target in targets.values():
        check_target(target, "--out", force=force, endings=(".jsonl",))
    with patiently("passages") as progress:
        passages = passages_of(
            texts,
            genre or [],
            fewest=min_words,
            most=max_words,
            alike=alike,
            sample=sample,
            parts=parts,
            seed=seed,
            progress=progress,
        )
    for name, rows in passages.files.items():
        with writing(targets[name], "--out"):
            write_jsonl(rows, targets[name])
    if as_json:
        files = {name: {"out": str(targets[name]), "passages": len(rows)} for name, rows in passages.files.items()}
        print_json(
            {
                **passages.counts,
                "genres": passages.genres,
                "left_out": passages.left_out,
                "out": str(out),
                **({"parts": files} if parts else {}),
            }
        )
        return
    show(passages_table(passages))
    _print_left_out(passages.left_out)
    for name, rows in passages.files.items():
        print_line(f"{targets[name]} has {plural(len(rows), 'passage', 'passages')}.")


def _print_left_out(texts: Mapping[str, str]) -> None:
    """Lists texts without a passage and the reason, shortened if there are many."""
    listed = [f"{text} ({why})" for text, why in islice(texts.items(), _MOST_LISTED)]
    if listed:
        more = len(texts) - len(listed)
        and_more = f" and {more:,} more (--json lists all)" if more else ""
        print_line(f"Texts without a passage: {', '.join(listed)}{and_more}.")


def _parts(given: list[str]) -> dict[str, int]:
    """Number of passages per part, by name."""
    parts: dict[str, int] = {}
    for option in given:
        name, _, count = option.partition("=")
        if not _NAME.fullmatch(name) or not count.isdecimal() or len(count) > 9 or not int(count):
            raise UserError(
                f"Invalid --part {option}. Write NAME=N, where NAME has only letters, digits and dashes, e.g. "
                "round-1=225."
            )
        if name in parts:
            raise UserError(f"--part {option} repeats the name of another part. Give every part a unique name.")
        parts[name] = int(count)
    return parts
