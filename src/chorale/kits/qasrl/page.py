"""Browsable questions and answers about verbs: counts for the terminal, and a page with every verb."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath

from chorale import __version__
from chorale.kits.qasrl.files import Qa, QuestionAnswers, Verb, joined
from chorale.metrics import signature
from chorale.metrics.score import Result
from chorale.metrics.score_table import ScoreTable
from chorale.model.plural import plural


@dataclass(frozen=True, slots=True)
class Annotated:
    """A verb with all questions about it, by file and worker."""

    verb: Verb
    tokens: Sequence[str]
    """Empty if the tokens are not known."""
    given: Sequence[tuple[str, str, Sequence[Qa]]]

    def has(self, text: str) -> bool:
        """Whether the sentence or one of the questions contains the text, ignoring case."""
        texts = [" ".join(self.tokens), *(qa.question.text for _, _, qas in self.given for qa in qas)]
        return any(text.casefold() in each.casefold() for each in texts)


@dataclass(frozen=True, slots=True)
class QasrlBrowsing:
    verbs: Sequence[Annotated]
    files: Sequence[str]
    digests: Mapping[str, str]
    notes: Sequence[str]


def browsed(
    tables: Sequence[QuestionAnswers], sentences: Mapping[str, tuple[str, ...]] | None = None, having: str = ""
) -> QasrlBrowsing:
    """The questions of the files by verb, in the order of sentences and verbs. `having`: only verbs with this text."""
    known = joined([("the sentences", sentences or {}), *((table.name, table.sentences) for table in tables)])
    given: dict[Verb, list[tuple[str, str, Sequence[Qa]]]] = {}
    for table in tables:
        for verb, by_worker in table.by_worker().items():
            given.setdefault(verb, []).extend((table.name, worker, qas) for worker, qas in sorted(by_worker.items()))
    listed = [Annotated(verb, known.get(verb.sentence, ()), given[verb]) for verb in sorted(given)]
    digests = {f"file{number}": table.digest for number, table in enumerate(tables, 1)}
    notes = [note for table in tables for note in table.notes]
    unknown = len({one.verb.sentence for one in listed if not one.tokens})
    if unknown:
        notes.append(
            f"The words of {plural(unknown, 'sentence', 'sentences')} are unknown: add the file with --sentences."
        )
    return QasrlBrowsing([one for one in listed if one.has(having)], [table.name for table in tables], digests, notes)


# Counts


def browsing_scored(browsing: QasrlBrowsing, having: str = "") -> Result:
    """Number of verbs, questions and answers per file, and the distribution of wh-words."""
    counts = {name: _counts(browsing, name) for name in browsing.files}
    columns = ("file", "verbs#", "annotations#", "questions#", "roles per verb#", "answers per role#")
    rows = [(name, *numbers.values()) for name, numbers in counts.items()]
    words = {name: _first_words(browsing, name) for name in browsing.files}
    of_all = sum(words.values(), Counter[str]())
    order = sorted(of_all, key=lambda word: (-of_all[word], word))
    asked = ScoreTable(
        "First words of questions",
        ("word", *(f"{name}#" for name in counts)),
        [(word, *(counted[word] for counted in words.values())) for word in order],
    )
    tables = [ScoreTable("Questions and answers", columns, rows, digits=2), asked]
    signed = signature("qasrl-browse", {"having": having} if having else {}, browsing.digests)
    files = {
        name: {**counts[name], "first_words": {word: words[name][word] for word in order}} for name in browsing.files
    }
    return Result({"files": files, "verbs": len(browsing.verbs)}, tables, signed, browsing.notes)


def _first_words(browsing: QasrlBrowsing, name: str) -> Counter[str]:
    return Counter(
        qa.question.wh for annotated in browsing.verbs for file, _, qas in annotated.given if file == name for qa in qas
    )


def _counts(browsing: QasrlBrowsing, name: str) -> dict[str, int | float | None]:
    given = [(annotated.verb, qas) for annotated in browsing.verbs for file, _, qas in annotated.given if file == name]
    asked = [qa for _, qas in given for qa in qas]
    return {
        "verbs": len({verb for verb, _ in given}),
        "annotations": len(given),
        "questions": len(asked),
        "roles_per_verb": len(asked) / len(given) if given else None,
        "answers_per_role": sum(len(qa.spans) for qa in asked) / len(asked) if asked else None,
    }


# The page


_STYLE = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 2.2rem 0 .3rem; }
p.text { margin: .3rem 0 .6rem; font-size: 1.1rem; } mark { padding: 0 .2em; border-radius: .2em; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem .3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; } .answer { display: block; } .where, footer { font-size: .85em; opacity: .75; }
@media print { body { font-size: 10pt; margin: 0; max-width: none; } section { break-inside: avoid; } }
"""


def qasrl_page(browsing: QasrlBrowsing, signed: str) -> Iterator[str]:
    """One self-contained HTML file in pieces, without scripts."""
    names = _short_names(browsing.files)
    title = escape(" and ".join(names.values()))
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    yield f"<p>{len(browsing.verbs):,} verbs</p>\n"
    if browsing.notes:
        yield f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in browsing.notes)}</ul>\n"
    for annotated in browsing.verbs:
        yield from _section(annotated, names if len(names) > 1 else {})
    yield f"</main>\n<footer><p>{escape(signed)}</p><p>Made by Chorale {escape(__version__)}.</p></footer>\n"
    yield "</body>\n</html>\n"


def _short_names(files: Sequence[str]) -> dict[str, str]:
    """File names without folders if they stay distinct."""
    short = {name: PurePath(name).name for name in files}
    return short if len(set(short.values())) == len(short) else {name: name for name in files}


def _section(annotated: Annotated, names: Mapping[str, str]) -> Iterator[str]:
    word = annotated.tokens[annotated.verb.token] if annotated.verb.token < len(annotated.tokens) else "verb"
    yield f'<section>\n<h2>{escape(word)} <span class="where">{escape(str(annotated.verb))}</span></h2>\n'
    if annotated.tokens:
        shown = (
            f"<mark>{escape(each)}</mark>" if at == annotated.verb.token else escape(each)
            for at, each in enumerate(annotated.tokens)
        )
        yield f'<p class="text">{" ".join(shown)}</p>\n'
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("question", "answers", "by"))
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>\n"
    for file, worker, qas in annotated.given:
        by = escape(" · ".join(filter(None, (names.get(file), worker))))
        for qa in sorted(qas, key=lambda qa: (qa.spans, qa.question)):
            answers = "".join(f'<span class="answer">{_answer(annotated.tokens, span)}</span>' for span in qa.spans)
            yield f'<tr><td>{escape(qa.question.text)}</td><td>{answers}</td><td class="where">{by}</td></tr>\n'
        if not qas:
            yield f'<tr><td>no questions</td><td></td><td class="where">{by}</td></tr>\n'
    yield "</tbody></table>\n</section>\n"


def _answer(tokens: Sequence[str], span: tuple[int, int]) -> str:
    place = f'<span class="where">{span[0]}:{span[1]}</span>'
    return f"{escape(' '.join(tokens[span[0] : span[1]]))} {place}"
