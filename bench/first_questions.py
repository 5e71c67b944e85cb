"""Learns which question to suggest first, and writes the weights: `question_weights.js` of the question grammar.

    python -m bench.first_questions train.jsonl.gz --but dense-dev.jsonl.gz
        --gold wikinews.dev.gold.csv wikinews.dev.full.csv --gold wikipedia.dev.gold.csv wikipedia.dev.full.csv
        --out src/chorale/kits/qasrl/grammar/question_weights.js

The first file is from the QA-SRL Bank. All its documents are used except those held out. A document is held out if
`is_held_out` names it and the gold standard or a file of `--but` has sentences of it. The half of the gold standard
that is not held out is used too. It has separate weights for cues about how people ask, not what they ask about.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, sparse

from chorale.kits.qasrl.files import read_sentences
from chorale.kits.qasrl.grammar import parse
from chorale.kits.qasrl.grammar.arguments import ends_noun, is_name
from chorale.kits.qasrl.grammar.completing import guessed_arguments
from chorale.kits.qasrl.grammar.ranking import FIRST_QUESTIONS, FirstQuestion, as_module, cues
from chorale.kits.qasrl.grammar.sentence import clause_in
from chorale.kits.qasrl.grammar.slots import Parsed, Slots
from chorale.kits.qasrl.metrics.questions import is_modal
from chorale.kits.qasrl.tasks.shared.predicates import forms_of
from chorale.kits.qasrl.tasks.shared.published import read_published
from chorale.text.inflections import VerbForms

FOLDS = 5
LEAST_VERBS, LEAST_ANSWERS, LEAST_WEIGHT = 5, 4, 0.1
STEPS = 50
"""Of the fitting, which stops early: 200 steps made a table about twice as large. Scores were not compared."""
TEXTBOOK, GOLD = 0.3, 2.0
"""What a verb of the Bank's textbooks and one of the gold standard weigh; one of its other texts weighs 1."""
PENALTY = 3.0
STYLE = ("any", "form", "tense", "voice", "rules", "subject", "object", "head", "no", "telling")
"""Cues by their first word that the gold standard has weights of its own for."""
Label = tuple[str, str, str, bool, bool, bool]


class Verb(NamedTuple):
    sentence: str
    tokens: tuple[str, ...]
    place: int
    forms: VerbForms
    gold: frozenset[Label]
    answers: tuple[tuple[str, str], ...] = ()
    """Heads of answers, with the question word they answer."""


def document_of(sentence: str) -> str:
    domain, *places = sentence.split(":")
    return ":".join((domain, *places[:2])) if domain == "Wiki1k" else sentence.rpartition("_")[0]


def is_held_out(sentence: str) -> bool:
    """Whether the sentence is of one of the documents, half of all, that nothing may be learnt from."""
    return bool(md5(document_of(sentence).encode(), usedforsecurity=False).digest()[0] % 2)


def fold_of(sentence: str) -> int:
    return md5(f"fold {document_of(sentence)}".encode(), usedforsecurity=False).digest()[0] % FOLDS


def label_of(slots: Slots, forms: VerbForms) -> Label:
    """What STRICT-MATCH compares."""
    told = slots.as_gold_standard(forms)
    negated, passive = (str(told[name]) == "True" for name in ("is_negated", "is_passive"))
    return told["wh"], told["subj"], told["obj"], negated, passive, is_modal(told["aux"])


def of_bank(path: Path) -> Iterator[Verb]:
    """Every verb, with the questions that five of six judges call valid."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            sentence = json.loads(line)
            tokens = tuple(sentence["sentenceTokens"])
            for verb in sentence["verbEntries"].values():
                forms = VerbForms.from_bank(verb["verbInflectedForms"])
                valid = [asked for asked in verb["questionLabels"].values() if _is_valid(asked)]
                gold = frozenset(label_of(Slots.from_bank(asked["questionSlots"]), forms) for asked in valid)
                answers = tuple(answer for asked in valid for answer in _answers(asked, tokens))
                if gold:
                    yield Verb(sentence["sentenceId"], tokens, verb["verbIndex"], forms, gold, answers)


def of_gold_standard(questions: Path, sentences: Path) -> Iterator[Verb]:
    for row in read_published([questions], read_sentences(sentences)).gold:
        forms = forms_of(row)
        parsed = [parse(asked["question"], forms) for asked in row["answer"]]
        gold = frozenset(label_of(found.slots, forms) for found in parsed if isinstance(found, Parsed))
        if gold:
            yield Verb(row["sentence_id"], tuple(row["tokens"]), row["verb_index"], forms, gold)


def _is_valid(asked: dict[str, Any]) -> bool:
    judges = asked["answerJudgments"]
    return bool(sum(judge["isValid"] for judge in judges) >= 5 / 6 * len(judges))


def _answers(asked: dict[str, Any], tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    wh = asked["questionSlots"]["wh"]
    if wh in ("who", "what"):
        spans = {tuple(span) for judge in asked["answerJudgments"] for span in judge.get("spans") or ()}
        heads = {_head(tokens[start:end]) for start, end in spans}
        yield from ((head.lower(), wh) for head in sorted(heads) if head and not is_name(head))


def _head(answer: Sequence[str]) -> str:
    head = ""
    for token in answer:
        if ends_noun(token.lower()):
            if head:
                break
            continue
        head = token
    return head


def kinds_of(verbs: Iterable[Verb]) -> dict[str, int]:
    """For a word how often it answers *who*, from 0 to 5."""
    asked: Counter[tuple[str, str]] = Counter(answer for verb in verbs for answer in verb.answers)
    words = {word for word, _ in asked}
    counted = {word: (asked[word, "who"], asked[word, "what"]) for word in words}
    return {
        word: int((who + 0.5) / (who + what + 1) * 5.999)
        for word, (who, what) in sorted(counted.items())
        if who + what >= LEAST_ANSWERS and word.isascii() and word.isalpha()
    }


def seen(verb: Verb, kinds: dict[str, int]) -> tuple[list[str], list[bool]]:
    """The cues, and which first questions ask what somebody asked."""
    clause = clause_in(verb.tokens, verb.place, verb.forms)
    guessed = guessed_arguments(verb.tokens, verb.place, verb.forms, clause)

    def label(question: FirstQuestion) -> Label:
        # The object of *called off* is said after the particle, where STRICT-MATCH does not look for it.
        patient = "" if guessed.object_after_particle else question.object
        wh = "who" if question.asked == "someone" else "what"
        return wh, "", patient, clause.negated, question.passive, question.modal

    found = cues(verb.tokens, verb.place, verb.forms, clause, guessed, kinds)
    return found, [label(question) in verb.gold for question in FIRST_QUESTIONS]


def learn(bank: Sequence[Verb], gold: Sequence[Verb]) -> dict[str, Any]:
    # A document's own answers must not say what its words are.
    others = [kinds_of(verb for verb in bank if fold_of(verb.sentence) != fold) for fold in range(FOLDS)]
    rows = [seen(verb, others[fold_of(verb.sentence)]) for verb in (*bank, *gold)]
    counts = Counter(cue for found, _ in rows for cue in found)
    known = {cue: place for place, cue in enumerate(cue for cue, count in counts.items() if count >= LEAST_VERBS)}
    of_style = {cue: len(known) + place for place, cue in enumerate(cue for cue in known if cue.split(":")[0] in STYLE)}
    places = [
        [known[cue] for cue in found if cue in known]
        + [of_style[cue] for cue in found if number >= len(bank) and cue in of_style]
        for number, (found, _) in enumerate(rows)
    ]
    ends = np.cumsum([0, *map(len, places)])
    shape = (len(rows), len(known) + len(of_style))
    matrix = sparse.csr_matrix((np.ones(ends[-1]), [one for row in places for one in row], ends), shape=shape)
    weight = [1.0 if verb.sentence.startswith("Wiki1k") else TEXTBOOK for verb in bank] + [GOLD] * len(gold)
    fitted = fit(matrix, np.array([right for _, right in rows], dtype=float), np.array(weight))
    learnt = {}
    for cue, place in known.items():
        row = fitted[place] + (fitted[of_style[cue]] if cue in of_style else 0)
        tenths = [round(10 * float(one)) if abs(one) >= LEAST_WEIGHT else 0 for one in row]
        while tenths and not tenths[-1]:
            tenths.pop()
        if tenths:
            learnt[cue] = tenths
    final = kinds_of(bank)
    kinds = [[word for word, kind in final.items() if kind == wanted] for wanted in range(6)]
    return {"kinds": kinds, "weights": dict(sorted(learnt.items()))}


def fit(matrix: Any, right: Any, weight: Any) -> Any:
    """Weights by which every question is as likely as it is right."""
    properties = np.array([question.properties() for question in FIRST_QUESTIONS], dtype=float).T
    shape = (matrix.shape[1], len(properties))

    def loss(flat: Any) -> tuple[float, Any]:
        values = flat.reshape(shape)
        scores = (matrix @ values) @ properties
        likely = 1 / (1 + np.exp(-scores))
        each = np.logaddexp(0, scores) - right * scores
        total = float((weight[:, None] * each).sum() + PENALTY / 2 * (flat**2).sum())
        slope = matrix.T @ ((weight[:, None] * (likely - right)) @ properties.T) + PENALTY * values
        return total, slope.ravel()

    start = np.zeros(shape[0] * shape[1])
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return found.x.reshape(shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bank", type=Path)
    parser.add_argument("--but", type=Path, action="append", default=[])
    parser.add_argument("--gold", type=Path, nargs=2, action="append", default=[])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    gold = [verb for questions, sentences in options.gold for verb in of_gold_standard(questions, sentences)]
    others = [verb for path in options.but for verb in of_bank(path)]
    kept_back = {document_of(verb.sentence) for verb in (*gold, *others) if is_held_out(verb.sentence)}
    bank = [verb for verb in of_bank(options.bank) if document_of(verb.sentence) not in kept_back]
    learnt = learn(bank, [verb for verb in gold if not is_held_out(verb.sentence)])
    options.out.write_text(as_module(learnt), "utf-8")
    words = sum(map(len, learnt["kinds"]))
    print(
        f"{len(bank):,} verbs of the Bank: {len(learnt['weights']):,} cues, {words:,} words, written to {options.out}"
    )


if __name__ == "__main__":
    main()
