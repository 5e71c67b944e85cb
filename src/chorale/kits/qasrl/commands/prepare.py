"""`chorale prepare qasrl`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.targets import Force, check_target, writing
from chorale.files.tables import write_jsonl
from chorale.kits.qasrl.preparing import VerbFilter, qasrl_items
from chorale.model.plural import plural
from chorale.text.sentence_files import IDS, read_given

Texts = Annotated[
    Path,
    Argument(
        metavar="TEXT|JSONL|CONLLU",
        help="Sentences: plain text (.txt), rows with tokens, sentence or text (.jsonl, .csv), or CoNLL-U (.conllu).",
    ),
]
Out = Annotated[Path, Option("--out", metavar="FILE", help="Where to write the items.")]
OnePerLine = Annotated[
    bool, Option("--one-per-line", help="In plain text, take every line for one sentence, and split none.")
]
Copulas = Annotated[bool, Option("--copulas", help="Ask about be where it is not a helping verb, too.")]
Auxiliaries = Annotated[bool, Option("--auxiliaries", help="Ask about the helping verbs be, have and do, too.")]


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
    check_target(out, "--out", force=force, endings=(".jsonl",))
    with patiently("sentences") as progress:
        given = read_given(texts, one_per_line=one_per_line, ids=(*IDS, "qasrl_id"))
        items = qasrl_items(given, str(texts), VerbFilter(copulas=copulas, auxiliaries=auxiliaries), progress)
    with writing(out, "--out"):
        write_jsonl(items.rows, out)
    if as_json:
        print_json(
            {
                "file": str(out),
                "items": len(items.rows),
                "sentences": items.sentences,
                "sentences_without_verbs": items.without_verbs,
                "model": items.model or None,
            }
        )
        return
    by = f", found by {items.model}" if items.model else ""
    print_line(
        f"{out}: {plural(len(items.rows), 'verb', 'verbs')} of {plural(items.sentences, 'sentence', 'sentences')}{by}."
    )
    if items.without_verbs:
        print_line(f"{plural(items.without_verbs, 'sentence has', 'sentences have')} no verb to ask about.")
