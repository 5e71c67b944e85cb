"""`chorale prepare qasrl`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import Annotated

import typer

from chorale.cli.arguments import AsJson
from chorale.cli.targets import Force, check_target, writing

Texts = Annotated[
    Path,
    typer.Argument(
        metavar="TEXT|JSONL|CONLLU",
        help="Sentences: plain text (.txt), rows with tokens, sentence or text (.jsonl, .csv), or CoNLL-U (.conllu).",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the items.", show_default=False)]
OnePerLine = Annotated[
    bool, typer.Option("--one-per-line", help="In plain text, take every line for one sentence, and split none.")
]
Copulas = Annotated[bool, typer.Option("--copulas", help="Ask about be where it is not a helping verb, too.")]
Auxiliaries = Annotated[bool, typer.Option("--auxiliaries", help="Ask about the helping verbs be, have and do, too.")]


def qasrl(
    texts: Texts,
    out: Out,
    one_per_line: OnePerLine = False,
    copulas: Copulas = False,
    auxiliaries: Auxiliaries = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find the verbs of a text: one item each, with the verb's forms, for `chorale new --template qasrl`."""
    from chorale.cli.output import print_json, say
    from chorale.cli.progress import patiently
    from chorale.files.tables import write_jsonl
    from chorale.kits.qasrl.preparing import Wanted, qasrl_items
    from chorale.model.plural import plural
    from chorale.text.sentence_files import read_given

    check_target(out, "--out", force=force, endings=(".jsonl",))
    with patiently("sentences") as progress:
        given = read_given(texts, one_per_line=one_per_line)
        found = qasrl_items(given, str(texts), Wanted(copulas=copulas, auxiliaries=auxiliaries), progress)
    with writing(out, "--out"):
        write_jsonl(found.rows, out)
    if as_json:
        print_json(
            {
                "file": str(out),
                "items": len(found.rows),
                "sentences": found.sentences,
                "sentences_without_verbs": found.without_verbs,
                "model": found.model or None,
            }
        )
        return
    by = f", found by {found.model}" if found.model else ""
    say(f"{out}: {plural(len(found.rows), 'verb', 'verbs')} of {plural(found.sentences, 'sentence', 'sentences')}{by}.")
    if found.without_verbs:
        say(f"{plural(found.without_verbs, 'sentence has', 'sentences have')} no verb to ask about.")
