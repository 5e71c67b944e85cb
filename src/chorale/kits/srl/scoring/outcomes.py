"""Selects the scorers for semantic roles that the files support, and runs them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import cast

from chorale.kits.srl.files import Corpus, FrameRelations, Sentence, SrlPredicate, as_spans
from chorale.kits.srl.metrics import (
    MetricOutcome,
    Names,
    conll05,
    conll08,
    conll09,
    only_common,
    primesrl,
    primesrl_program,
    semeval07,
    senseval3,
)
from chorale.kits.srl.metrics.wholes import NUMBERED, CoreRoles, Mode
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.model.problems import did_you_mean

METRICS = ("primesrl", "conll05", "conll09", "conll08", "senseval3", "semeval07")
MODES = ("auto", "head", "span")
USUAL = ("primesrl", "conll05", "conll09", "conll08")
"""Default metrics. Those that the files do not support are skipped."""


@dataclass(frozen=True, slots=True)
class SrlOptions:
    """All options that can change a score."""

    metrics: tuple[str, ...] = ()
    """Empty for the default metrics."""
    mode: str = "auto"
    """For PriMeSRL: `head`, `span` or `auto` (heads if the files mark them)."""
    predicates: str = "all"
    """`common`: the CoNLL scorers use only predicates that both files have."""
    apart: bool = False
    """Whether adjacent arguments with the same label stay separate when spans are computed from heads."""
    core: CoreRoles = NUMBERED
    """For PriMeSRL: the roles that depend on the sense."""
    program: bool = False
    """Whether PriMeSRL follows its authors' program instead of the paper."""

    def __post_init__(self) -> None:
        """Rejects invalid options before any file is read."""
        for name in self.metrics:
            if name not in METRICS:
                meant = did_you_mean(name, METRICS)
                raise UserError(f"unknown semantic role metric {name!r}. Use {', '.join(METRICS)}.{meant}")
        if self.mode not in MODES:
            raise UserError(f"unknown mode {self.mode!r}. Use auto, head or span.{did_you_mean(self.mode, MODES)}")
        if self.program and self.core != NUMBERED:
            raise UserError("--primesrl program always uses the roles with a digit as core roles. Omit --core.")
        if self.program and self.mode == "span":
            raise UserError("--primesrl program only compares heads. Omit --mode span.")


def metrics_for(options: SrlOptions, corpora: Sequence[Corpus], relations: FrameRelations | None) -> tuple[str, ...]:
    """The metrics to compute. Raises an error if a requested metric needs information that a file lacks."""
    if not options.metrics:
        return tuple(name for name in USUAL if not _lacking(name, corpora, relations))
    for name in options.metrics:
        if lacking := _lacking(name, corpora, relations):
            raise UserError(f"cannot compute {name}: {lacking}")
    return tuple(dict.fromkeys(options.metrics))


def _lacking(metric: str, corpora: Sequence[Corpus], relations: FrameRelations | None) -> str | None:
    """Explains which information the files lack for a metric, if any."""
    spans = next((corpus for corpus in corpora if corpus.marks_spans), None)
    bare = next((corpus for corpus in corpora if not corpus.marks_spans and not corpus.has_syntax), None)
    if metric in ("conll08", "conll09") and spans is not None:
        return f"{spans.name} marks spans, not heads. Use conll05 or primesrl, or files that mark heads."
    if metric == "conll08" and bare is not None:
        return f"{bare.name} has no syntactic heads. Fill its HEAD column, or use conll09."
    if metric in ("conll05", "senseval3", "semeval07") and bare is not None:
        return f"{bare.name} marks heads but has no syntax to compute spans from. Fill its HEAD column."
    if metric == "semeval07" and relations is None:
        return "it requires FrameNet's relations. Set --framenet to the FrameNet folder."
    return None


def mode_for(options: SrlOptions, corpora: Sequence[Corpus]) -> Mode:
    """How PriMeSRL compares arguments."""
    spans = next((corpus for corpus in corpora if corpus.marks_spans), None)
    bare = next((corpus for corpus in corpora if not corpus.marks_spans and not corpus.has_syntax), None)
    if options.program and (lacking := spans or bare) is not None:
        reason = "marks spans" if lacking.marks_spans else "has no syntax"
        raise UserError(
            f"--primesrl program requires heads and syntax, but {lacking.name} {reason}. Use --primesrl paper."
        )
    if options.mode == "auto":
        return "head" if spans is None else "span"
    if options.mode == "head" and spans is not None:
        raise UserError(f"--mode head requires heads, but {spans.name} marks spans. Use --mode span.")
    if options.mode == "span" and bare is not None:
        raise UserError(
            f"--mode span requires spans, but {bare.name} marks heads and has no syntax to compute spans from. Fill "
            "its HEAD column."
        )
    return cast(Mode, options.mode)


def outcomes(
    system: Corpus, gold: Corpus, metrics: Sequence[str], options: SrlOptions, relations: FrameRelations | None
) -> dict[str, MetricOutcome]:
    """Computes every metric for a system that has the same sentences as the gold."""
    mode = mode_for(options, (system, gold))
    both: list[Sequence[Sentence]] = [system.sentences, gold.sentences]
    shared = only_common(*both) if options.predicates == "common" else both
    # If only one file has senses, the verbs are compared.
    comparable = _by_verb if system.has_senses != gold.has_senses else list[Sentence]
    scored: dict[str, MetricOutcome] = {}
    for name in metrics:
        if name == "primesrl" and options.program:
            scored[name] = primesrl_program(*both)
        elif name == "primesrl":
            scored[name] = primesrl(*map(comparable, both), mode=mode, core=options.core)
        elif name == "conll05":
            scored[name] = conll05(*map(comparable, _with_spans(system, gold, shared, apart=options.apart)))
        elif name == "senseval3":
            scored[name] = senseval3(*both)
        elif name == "semeval07" and relations is not None:
            scored[name] = semeval07(*both, relations=relations)
        else:
            scored[name] = (conll08 if name == "conll08" else conll09)(*shared)
    return scored


def _with_spans(
    system: Corpus, gold: Corpus, shared: Sequence[Sequence[Sentence]], *, apart: bool
) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences of both files to compare. Shared arguments are converted once."""
    theirs, ours = shared
    of_gold = as_spans(replace(gold, sentences=ours), apart=apart)
    like = zip(ours, of_gold, strict=True) if not gold.marks_spans else repeat(None)
    return as_spans(replace(system, sentences=theirs), apart=apart, like=like), of_gold


def _by_verb(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Replaces senses with their verbs, without particles."""

    def bare(predicate: SrlPredicate) -> SrlPredicate:
        verb = predicate.lemma.partition("_")[0] or predicate.lemma
        return predicate._replace(lemma=verb, sense=verb)

    return [each._replace(predicates=tuple(map(bare, each.predicates))) for each in sentences]


def remarks(system: Corpus, gold: Corpus, scored: Mapping[str, MetricOutcome], options: SrlOptions) -> list[str]:
    """Notes for people who publish the scores."""
    notes = [*_about_nothing(system, "precision"), *_about_nothing(gold, "recall")]
    if "conll05" in scored:
        notes += _about_propositions(system, gold, options)
        computed = " and ".join(corpus.name for corpus in (system, gold) if not corpus.marks_spans)
        if computed:
            notes.append(f"conll05: spans of {computed} were computed from heads and syntax.")
    without_senses = next((corpus for corpus in (gold, system) if not corpus.has_senses), None)
    if "primesrl" in scored and without_senses is not None:
        notes.append(f"primesrl: {without_senses.name} has no senses; the verb's lemma is used as its sense.")
    if "primesrl" in scored and not options.core.names:
        notes += _about_other_roles(system, gold, scored["primesrl"].names["roles"], options)
    totals = scored["primesrl"].totals() if "primesrl" in scored else {}
    for group in ("core", "context"):
        if totals and not totals[f"system_{group}"] and not totals[f"gold_{group}"]:
            notes.append(
                f"primesrl: neither {system.name} nor {gold.name} has {group} arguments, so {group} scores are 0."
            )
    return notes


def _about_other_roles(system: Corpus, gold: Corpus, names: Names, options: SrlOptions) -> list[str]:
    """Note about roles that are neither numbered nor modifiers. The user decides which of them are core."""
    labels = Counter(names.returned) + Counter(names.wanted)
    if options.program:
        # The program ignores them.
        labels = Counter(
            label.removeprefix("C-")
            for corpus in (system, gold)
            for sentence in corpus.sentences
            for predicate in sentence.predicates
            for label, _, _ in predicate.arguments
        )
    others = sorted(label for label in labels if not NUMBERED.has(label) and "AM" not in label)
    if not others:
        return []
    shown = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
    number = sum(labels[label] for label in others)
    count = plural(number, "argument", "arguments")
    if options.program:
        return [f"primesrl: the program leaves out {count} whose role has neither a digit nor AM: {shown}."]
    return [
        f"primesrl: {count} whose role is neither numbered nor AM-… {'counts' if number == 1 else 'count'} as context: "
        f"{shown}. "
        f"Declare core roles with --core, for example --core numbered,{others[0]}."
    ]


def _about_nothing(corpus: Corpus, score: str) -> list[str]:
    """Notes about scores that are 0 by definition because there is nothing to score."""
    if not any(sentence.predicates for sentence in corpus.sentences):
        return [f"{corpus.name} has no predicates: {score} is 0 by definition."]
    if not any(each.arguments for sentence in corpus.sentences for each in sentence.predicates):
        return [f"{corpus.name} has no arguments: argument {score} is 0 by definition."]
    return []


def _about_propositions(system: Corpus, gold: Corpus, options: SrlOptions) -> list[str]:
    unseen = other_verb = 0
    both = [system.sentences, gold.sentences]
    if system.has_senses != gold.has_senses:
        both = [_by_verb(each) for each in both]
    for theirs, ours in zip(*both, strict=True):
        if theirs.predicates == ours.predicates:
            continue
        verbs = {each.position: each.lemma for each in ours.predicates}
        for predicate in theirs.predicates:
            verb = verbs.get(predicate.position)
            unseen += verb is None
            other_verb += verb is not None and verb != predicate.lemma
    notes = []
    if unseen and options.predicates == "all":
        notes.append(
            f"conll05: {plural(unseen, 'proposition', 'propositions')} that only {system.name} has "
            f"{'was' if unseen == 1 else 'were'} ignored, as in srl-eval.pl."
        )
    if other_verb:
        notes.append(
            f"conll05: {system.name} has a different verb than the gold in "
            f"{plural(other_verb, 'proposition', 'propositions')}. All gold arguments of such propositions count as "
            "missed, as in srl-eval.pl."
        )
    return notes
