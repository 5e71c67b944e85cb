"""`chorale prepare qasrl`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson, OnePerLine, Texts
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.files.tables import write_jsonl
from chorale.files.targets import check_target, writing
from chorale.kits.qasrl.preparing import VerbFilter, qasrl_items
from chorale.metrics.options import Force
from chorale.model.plural import plural
from chorale.text.sentence_files import IDS, LONGEST_TOKEN, MOST_TOKENS, read_given


def qasrl(
    texts: Texts,
    out: Annotated[Path, Option(help="Where to write the items.")],
    one_per_line: OnePerLine = False,
    copulas: Annotated[bool, Option(help="Ask about be where it is not a helping verb, too.")] = False,
    auxiliaries: Annotated[bool, Option(help="Ask about the helping verbs be, have and do, too.")] = False,
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
                "sentences_left_out": len(items.left_out),
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
    if items.left_out:
        lines = ", ".join(str(one.line) for one in items.left_out[:5]) + (" …" if len(items.left_out) > 5 else "")
        print_line(
            f"{plural(len(items.left_out), 'sentence was', 'sentences were')} left out: more than {MOST_TOKENS} words, "
            f"or a word of more than {LONGEST_TOKEN} characters (lines {lines})."
        )
