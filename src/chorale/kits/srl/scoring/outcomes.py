"""Which scorers of semantic roles can look at which files, and what each finds."""

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
"""What is computed if nobody says which: of these, whatever the files have the information for."""


@dataclass(frozen=True, slots=True)
class SrlOptions:
    """Everything that can change a number."""

    metrics: tuple[str, ...] = ()
    """Empty for the usual ones."""
    mode: str = "auto"
    """Of PriMeSRL: `head`, `span`, or `auto`: heads where the files mark them."""
    predicates: str = "all"
    """`common`: the CoNLL scorers see only the predicates that both files have."""
    apart: bool = False
    """Whether neighbouring arguments of one label stay two spans when spans are computed from heads."""
    core: CoreRoles = NUMBERED
    """Of PriMeSRL: the roles that depend on the sense."""
    program: bool = False
    """Whether PriMeSRL is counted as by its authors' program, and not as in the paper."""

    def __post_init__(self) -> None:
        """Refuse words that mean nothing, before any file is read."""
        for name in self.metrics:
            if name not in METRICS:
                meant = did_you_mean(name, METRICS)
                raise UserError(f"there is no metric {name!r} for semantic roles. Use {', '.join(METRICS)}.{meant}")
        if self.mode not in MODES:
            raise UserError(f"there is no mode {self.mode!r}. Use auto, head or span.{did_you_mean(self.mode, MODES)}")
        if self.program and self.core != NUMBERED:
            raise UserError("--primesrl program has its own core roles: those with a digit. Leave out --core.")
        if self.program and self.mode == "span":
            raise UserError("--primesrl program compares heads only. Leave out --mode span.")


def metrics_for(options: SrlOptions, corpora: Sequence[Corpus], relations: FrameRelations | None) -> tuple[str, ...]:
    """The metrics to compute. One that was asked for and that a file has not the information for is refused."""
    if not options.metrics:
        return tuple(name for name in USUAL if not _lacking(name, corpora, relations))
    for name in options.metrics:
        if lacking := _lacking(name, corpora, relations):
            raise UserError(f"{name} can't be computed: {lacking}")
    return tuple(dict.fromkeys(options.metrics))


def _lacking(metric: str, corpora: Sequence[Corpus], relations: FrameRelations | None) -> str | None:
    """What the files have not."""
    spans = next((corpus for corpus in corpora if corpus.marks_spans), None)
    bare = next((corpus for corpus in corpora if not corpus.marks_spans and not corpus.has_syntax), None)
    if metric in ("conll08", "conll09") and spans is not None:
        return f"{spans.name} marks spans and not heads. Use conll05 or primesrl, or files that mark heads."
    if metric == "conll08" and bare is not None:
        return f"{bare.name} has no heads in its column of syntax. Fill it, or use conll09."
    if metric in ("conll05", "senseval3", "semeval07") and bare is not None:
        return f"{bare.name} marks heads and has no syntax to find their spans by. Fill its HEAD column."
    if metric == "semeval07" and relations is None:
        return "it needs FrameNet's relations. Name FrameNet's folder with --framenet."
    return None


def mode_for(options: SrlOptions, corpora: Sequence[Corpus]) -> Mode:
    """How PriMeSRL compares arguments."""
    spans = next((corpus for corpus in corpora if corpus.marks_spans), None)
    bare = next((corpus for corpus in corpora if not corpus.marks_spans and not corpus.has_syntax), None)
    if options.program and (lacking := spans or bare) is not None:
        reason = "marks spans" if lacking.marks_spans else "has no syntax"
        raise UserError(
            f"--primesrl program needs heads and syntax, and {lacking.name} {reason}. Use --primesrl paper."
        )
    if options.mode == "auto":
        return "head" if spans is None else "span"
    if options.mode == "head" and spans is not None:
        raise UserError(f"--mode head needs heads, and {spans.name} marks spans. Use --mode span.")
    if options.mode == "span" and bare is not None:
        raise UserError(f"--mode span needs spans, and {bare.name} marks heads and has no syntax to find them by.")
    return cast(Mode, options.mode)


def outcomes(
    system: Corpus, gold: Corpus, metrics: Sequence[str], options: SrlOptions, relations: FrameRelations | None
) -> dict[str, MetricOutcome]:
    """What every metric says of a system whose sentences are the gold's."""
    mode = mode_for(options, (system, gold))
    both: list[Sequence[Sentence]] = [system.sentences, gold.sentences]
    shared = only_common(*both) if options.predicates == "common" else both
    # Of a file with senses and one with verbs only, what both have is the verb.
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
    """The sentences that are compared, of both. What the system has as the gold has it is computed once."""
    theirs, ours = shared
    of_gold = as_spans(replace(gold, sentences=ours), apart=apart)
    like = zip(ours, of_gold, strict=True) if not gold.marks_spans else repeat(None)
    return as_spans(replace(system, sentences=theirs), apart=apart, like=like), of_gold


def _by_verb(sentences: Sequence[Sentence]) -> list[Sentence]:
    """With the verb, without its particle, for the sense."""

    def bare(predicate: SrlPredicate) -> SrlPredicate:
        verb = predicate.lemma.partition("_")[0] or predicate.lemma
        return predicate._replace(lemma=verb, sense=verb)

    return [each._replace(predicates=tuple(map(bare, each.predicates))) for each in sentences]


def remarks(system: Corpus, gold: Corpus, scored: Mapping[str, MetricOutcome], options: SrlOptions) -> list[str]:
    """What somebody should know who publishes the numbers."""
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
            notes.append(f"primesrl: neither {system.name} nor {gold.name} has {group} arguments; their scores are 0.")
    return notes


def _about_other_roles(system: Corpus, gold: Corpus, names: Names, options: SrlOptions) -> list[str]:
    """Roles that are neither numbered nor modifiers: which they are is for the user to say."""
    labels = Counter(names.returned) + Counter(names.wanted)
    if options.program:
        # It counts none of them.
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
    count = plural(sum(labels[label] for label in others), "argument", "arguments")
    if options.program:
        return [f"primesrl: the program leaves out {count} whose role has neither a digit nor AM: {shown}."]
    return [
        f"primesrl: {count} whose role is neither numbered nor AM-… count as context: {shown}. "
        f"Declare core roles with --core, for example --core numbered,{others[0]}."
    ]


def _about_nothing(corpus: Corpus, score: str) -> list[str]:
    """A share of nothing is 0 by definition, which nobody should take for a result."""
    if not any(sentence.predicates for sentence in corpus.sentences):
        return [f"{corpus.name} has no predicates: {score} is 0 by definition."]
    if not any(each.arguments for sentence in corpus.sentences for each in sentence.predicates):
        return [f"{corpus.name} has no arguments: their {score} is 0 by definition."]
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
            f"{'was' if unseen == 1 else 'were'} not looked at, as in srl-eval.pl."
        )
    if other_verb:
        notes.append(
            f"conll05: propositions of {system.name} with another verb than the gold's: {other_verb:,}. "
            "All gold arguments of those are missed, as in srl-eval.pl."
        )
    return notes
