"""Semantic roles as text, for tests that need files."""

from collections.abc import Callable

from chorale.kits.srl.files import Corpus, Sentence, as_spans


def written(corpus: Corpus, format_name: str) -> str:
    """The corpus in that format. Spans follow from heads and a tree; heads do not follow from spans."""
    sentences = as_spans(corpus) if format_name == "conll05" else corpus.sentences
    return "".join("\n".join(_WRITERS[format_name](sentence)) + "\n\n" for sentence in sentences)


def _conll05(sentence: Sentence) -> list[str]:
    verbs = ["-"] * sentence.length
    columns = []
    for predicate in sentence.predicates:
        verbs[predicate.position] = predicate.lemma
        before, after = [""] * sentence.length, [""] * sentence.length
        # Wider spans are opened first and closed last.
        for label, first, last in sorted(
            predicate.arguments, key=lambda argument: (argument.first, -argument.last, argument.label)
        ):
            before[first] += f"({label}"
            after[last] += ")"
        columns.append([f"{opened}*{closed}" for opened, closed in zip(before, after, strict=True)])
    return [" ".join(cells) for cells in zip(verbs, *columns, strict=True)]


def _conll09(sentence: Sentence) -> list[str]:
    def fixed(index: int) -> list[str]:
        lemma, head, deprel = sentence.lemmas[index], _head(sentence, index), sentence.deprels[index]
        tags = [sentence.upos[index], sentence.xpos[index]]
        feats = sentence.feats[index]
        flag, sense = _sense(sentence, index)
        syntax = [head, head, deprel, deprel]
        return [str(index + 1), sentence.forms[index], lemma, lemma, *tags, feats, feats, *syntax, flag, sense]

    return _with_columns(sentence, fixed)


def _conllu(sentence: Sentence) -> list[str]:
    def fixed(index: int) -> list[str]:
        tags = [sentence.upos[index], sentence.xpos[index], sentence.feats[index]]
        syntax = [_head(sentence, index), sentence.deprels[index]]
        return [str(index + 1), sentence.forms[index], sentence.lemmas[index], *tags, *syntax, *_sense(sentence, index)]

    return _with_columns(sentence, fixed)


_WRITERS: dict[str, Callable[[Sentence], list[str]]] = {
    "conll05": _conll05,
    "conll09": _conll09,
    "conllu": _conllu,
}


def _head(sentence: Sentence, index: int) -> str:
    return str(sentence.heads[index]) if sentence.heads else "_"


def _sense(sentence: Sentence, index: int) -> tuple[str, str]:
    sense = next((predicate.sense for predicate in sentence.predicates if predicate.position == index), None)
    return ("_", "_") if sense is None else ("Y", sense)


def _with_columns(sentence: Sentence, fixed: Callable[[int], list[str]]) -> list[str]:
    columns = []
    for predicate in sentence.predicates:
        column = ["_"] * sentence.length
        for argument in predicate.arguments:
            cell = column[argument.first]
            column[argument.first] = argument.label if cell == "_" else f"{cell}|{argument.label}"
        columns.append(column)
    return ["\t".join([*fixed(index), *(column[index] for column in columns)]) for index in range(sentence.length)]
