"""`chorale prepare mcq`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import Annotated

import typer

from chorale.cli.arguments import AsJson
from chorale.cli.scoring import Seed
from chorale.cli.targets import Force

Texts = Annotated[
    list[Path],
    typer.Argument(
        metavar="TEXT...",
        help="Plain text, .jsonl with text in each row, or folders of .txt files such as the Open American National "
        "Corpus.",
        show_default=False,
    ),
]
Out = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="Where the passages go: a .jsonl file.", show_default=False)
]
Genres = Annotated[
    list[str] | None,
    typer.Option("--genre", metavar="NAME", help="Only texts of this genre; can be given again.", show_default=False),
]
MinWords = Annotated[int, typer.Option("--min-words", metavar="N", min=1, help="Fewest words of a passage.")]
MaxWords = Annotated[int, typer.Option("--max-words", metavar="N", min=2, help="Most words of a passage.")]
Alike = Annotated[
    float,
    typer.Option(
        "--alike",
        metavar="SHARE",
        min=0.1,
        max=1.0,
        help="Share of common words, three in a row, from which on a passage is taken for one that is there.",
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        metavar="N",
        min=1,
        help="Keep so many, drawn by chance, as even over genres as can be.",
        show_default=False,
    ),
]


def mcq(
    texts: Texts,
    out: Out,
    genre: Genres = None,
    min_words: MinWords = 60,
    max_words: MaxWords = 250,
    alike: Alike = 0.8,
    sample: Sample = None,
    seed: Seed = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Cut texts into passages for a study of multiple-choice questions, each there once."""
    from chorale.cli.output import print_json, say, show
    from chorale.cli.progress import patiently
    from chorale.cli.targets import check_target, writing
    from chorale.formats import write_jsonl
    from chorale.model import UserError
    from chorale.report.passages import passages_of, passages_table

    if min_words > max_words:
        raise UserError(f"--min-words {min_words} is above --max-words {max_words}. Give a lower number first.")
    check_target(out, "--out", force=force, endings=(".jsonl",))
    with patiently("passages") as progress:
        found = passages_of(
            texts,
            genre or [],
            fewest=min_words,
            most=max_words,
            alike=alike,
            sample=sample,
            seed=seed,
            progress=progress,
        )
    with writing(out, "--out"):
        write_jsonl(found.rows, out)
    if as_json:
        print_json({**found.counts, "genres": found.genres, "out": str(out)})
        return
    show(passages_table(found))
    say(f"{out} has {len(found.rows):,} passages.")
