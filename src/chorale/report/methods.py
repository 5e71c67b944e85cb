"""Three paragraphs for the methods section of a paper. Every number in them is computed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chorale import __version__
from chorale.engine.running import RunningStage, Study
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import TOO_FEW_TEXT, shown_number
from chorale.model import StagePay, money_text
from chorale.model.plural import plural
from chorale.monitor.costs import CostTerms, training_stages
from chorale.monitor.status import Status
from chorale.report.imported import ImportedWork
from chorale.report.protocol import arms_in_words, gold_rule, judgments_in_words, listed

_MOST_NAMED = 3
"""Maximum number of gates, stages or questions that a paragraph names; with more, it gives their number."""


@dataclass(frozen=True, slots=True)
class MethodsFacts:
    """The numbers and settings that the paragraphs are made from."""

    now: Status
    costs: CostTerms
    decided: int
    """Maximum number of results: items, or the study's own unit of results."""
    funnel: Mapping[str, Any]
    agreement: Mapping[str, Any]
    resampling: Resampling
    imported: ImportedWork | None = None
    """Where the work was imported from, if it was done elsewhere."""
    per_item: Mapping[str, str] = field(default_factory=dict)
    """How many annotations the items of imported stages have, in words."""
    simulated: bool = False
    models: Sequence[str] = ()
    """Sentences on the models that annotated."""
    reviewed: Sequence[Mapping[str, Any]] = ()
    """The number of labels that reviewers decided and changed, by stage."""


def methods_paragraphs(study: Study, facts: MethodsFacts) -> dict[str, str]:
    """Design; people, pay and quality control; agreement, exclusions and models."""
    paragraphs = {
        "Design": _design(study, facts),
        "People, pay and quality control": _people(study, facts),
        "Labels, agreement and exclusions": _analysis(study, facts),
    }
    return {heading: " ".join(sentences) for heading, sentences in paragraphs.items()}


def main_stages(study: Study) -> list[RunningStage]:
    """The stages that results come from: not training, not grading."""
    training = training_stages(study)
    judged = [stage for stage in study.stages.values() if stage.settings.round is None]
    return [one for one in judged if one.name not in training and not one.settings.grades] or judged


# Design


def _design(study: Study, facts: MethodsFacts) -> Iterator[str]:
    if facts.simulated:
        yield "All people in this study were simulated: the numbers test the protocol and do not describe real people."
    annotations = plural(sum(one.judgments for one in facts.now.stages), "annotation", "annotations")
    worked = plural(facts.funnel["worked"], "person", "people")
    if facts.funnel["experts"]:
        worked += f" and {plural(facts.funnel['experts'], 'expert', 'experts')}"
    if facts.imported is not None:
        yield (
            f"The data are {annotations} by {worked}, collected elsewhere and imported into Chorale {__version__} "
            f"from {listed(facts.imported.files)}."
        )
    elif len(facts.now.rounds) == len(facts.now.stages):
        rounds = plural(len(facts.now.rounds), "training round", "training rounds")
        yield f"{worked} took part in {rounds} with Chorale {__version__} (random seed {study.settings.study.seed})."
    else:
        yield (
            f"{worked} worked on this study with Chorale {__version__} (random seed {study.settings.study.seed}). "
            f"The study has {annotations}."
        )
    yield from _arms(study)
    yield from _stages(study, facts)
    yield from _training(study, facts.now)


def _arms(study: Study) -> Iterator[str]:
    if (assigned := arms_in_words(study.settings)) is not None:
        yield assigned


def _stages(study: Study, facts: MethodsFacts) -> Iterator[str]:
    """The main stages, with one sentence for all that have the same task and rule."""
    counts = {one.name: one for one in facts.now.stages}
    alike: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for stage in main_stages(study):
        made = f" made from {listed(stage.settings.sources)}" if stage.settings.sources else ""
        if counts[stage.name].items:
            given = facts.per_item.get(stage.name)
            rule = f"was to receive {judgments_in_words(stage.settings)}" if given is None else f"has {given}"
            alike[stage.task.name, made, rule].append(stage.name)
    for (task, made, rule), names in alike.items():
        items = plural(sum(counts[name].items for name in names), "item", "items")
        yield f"In {listed(names)} (task {task}), each of {items}{made} {rule}."


def _training(study: Study, now: Status) -> Iterator[str]:
    """How people were trained, and how many finished it."""
    training = training_stages(study)
    graded = [one for one in study.stages.values() if one.settings.grades and one.name in training]
    others = [one for one in study.stages.values() if one.name in training and not one.settings.grades]
    rounds = [one for one in now.stages if one.name in now.rounds]
    if len(others) > _MOST_NAMED:
        quizzes = plural(len(rounds), "was a quiz with known answers", "were quizzes with known answers")
        yield f"People were trained and selected in {len(others):,} stages, of which {quizzes}."
    else:
        for counts in rounds:
            of = now.rounds[counts.name]
            items = plural(of.questions, "item", "items")
            began = plural(counts.workers, "person", "people")
            yield f"Of {began} who began {counts.name} ({items}), {of.finished:,} finished it."
    if graded:
        stages = plural(len(graded), "other stage", "other stages")
        yield f"In {stages}, graders graded the work of people in training."


# People, pay and quality control


def _people(study: Study, facts: MethodsFacts) -> Iterator[str]:
    funnel = facts.funnel
    if facts.imported is None:
        yield (
            f"{plural(funnel['arrived'], 'person', 'people')} joined, {funnel['consented']:,} gave consent and "
            f"{funnel['worked']:,} worked."
        )
    yield from _gates(funnel["gates"])
    yield from _pay(study, facts)
    yield from _quality(study, facts.now)


def _gates(gates: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    decided = {name: one for name, one in gates.items() if one["passed"] + one["not_passed"]}
    if len(decided) > _MOST_NAMED:
        yield f"{len(decided):,} gates decided who could continue; the participant flow has their numbers."
        return
    for name, counts in decided.items():
        scored = plural(counts["passed"] + counts["not_passed"], "person", "people")
        yield f"{counts['passed']:,} of {scored} passed the gate {name}."


def _pay(study: Study, facts: MethodsFacts) -> Iterator[str]:
    now, costs, currency = facts.now, facts.costs, study.settings.pay.currency
    rates: dict[str, list[str]] = defaultdict(list)
    for stage in main_stages(study):
        if stage.settings.pay.per_judgment:
            rates[_rate(stage.settings.pay, currency)].append(stage.name)
    plain = [f"{rate} in {listed(names)}" for rate, names in rates.items() if ", plus" not in rate]
    if plain:
        yield f"Pay per annotation was {listed(plain)}."
    for rate, names in rates.items():
        if ", plus" in rate:
            yield f"Pay per annotation in {listed(names)} was {rate}."
    if now.wage.median is not None and now.wage.tenth_percentile is not None:
        yield (
            f"Workers earned a median of {money_text(now.wage.median, currency)} per hour "
            f"(10th percentile {money_text(now.wage.tenth_percentile, currency)})."
        )
    if now.spent:
        parts = {"fees": now.totals["fee"], "calls to models": now.totals["model"]}
        of_which = [f"{money_text(amount, currency)} for {what}" for what, amount in parts.items() if amount]
        including = f", including {listed(of_which)}" if of_which else ""
        each = f" ({money_text(round(costs.per_result), currency)} per {costs.unit})" if costs.per_result else ""
        yield f"The study cost {money_text(now.spent, currency)}{each}{including}."
    if facts.imported is not None:
        yield facts.imported.about_costs


def _rate(pay: StagePay, currency: str) -> str:
    """The pay for an annotation, with its bonuses."""
    extra = []
    if pay.by_length is not None:
        per, most = (money_text(amount, currency) for amount in (pay.by_length.per_100_words, pay.by_length.most))
        extra.append(f"{per} for every 100 words of the item (at most {most})")
    for bonus, parts in ((pay.parts, "part of an answer"), (pay.kept, "part of an answer that a later stage keeps")):
        if bonus is not None:
            beyond = f" after the first {'' if bonus.beyond == 1 else bonus.beyond}".rstrip() if bonus.beyond else ""
            extra.append(f"a bonus for every {parts}{beyond}")
    base = money_text(pay.per_judgment, currency)
    return f"{base}, plus {' and '.join(extra)}" if extra else base


def _quality(study: Study, now: Status) -> Iterator[str]:
    with_gold = any(study.stage(one.name).settings.gold is not None for one in now.stages)
    removed = len({one.worker for one in now.dropped})
    if with_gold:
        answers = plural(sum(one.gold_answers for one in now.stages), "answer", "answers")
        yield f"Quality control used gold items with known answers, to which workers gave {answers}."
    rules: dict[str, list[str]] = defaultdict(list)
    for counts in now.stages:
        gold, measured = study.stage(counts.name).settings.gold, study.stage(counts.name).settings.quality
        if gold is not None and gold.floor:
            rules[f"the rule was to remove workers with {gold_rule(gold)}"].append(counts.name)
        if measured is not None and measured.floor is not None:
            rule = (
                f"the rule was to remove workers with a CrowdTruth quality (WQS) below {measured.floor:g} after "
                f"{plural(measured.after, 'annotation', 'annotations')}"
            )
            rules[rule].append(counts.name)
    for rule, names in rules.items():
        yield f"In {listed(names)}, {rule}."
    if removed:
        yield f"{plural(removed, 'worker was', 'workers were')} removed."
    elif rules:
        yield "No worker was removed."
    if not rules and not with_gold:
        yield "No rule removed workers."


# Labels, agreement and exclusions


def _analysis(study: Study, facts: MethodsFacts) -> Iterator[str]:
    yield from _labels(study, facts)
    yield from _agreement(facts, {stage.name for stage in main_stages(study)})
    yield from _exclusions(facts)
    yield from _comparisons(study)
    yield from facts.models


def _labels(study: Study, facts: MethodsFacts) -> Iterator[str]:
    if not facts.decided:
        return
    yield f"The annotations of an item were aggregated into one label, accepted {_accepted(main_stages(study))}."
    weighted = [stage.name for stage in main_stages(study) if stage.settings.gold is not None]
    if weighted:
        everywhere = len(weighted) == len(main_stages(study))
        where = "" if everywhere else f"In {listed(weighted)}, annotations"
        yield f"{where or 'Annotations'} were weighted by the gold accuracy of their workers."
    results, unit = facts.costs.results, facts.costs.unit
    share = results / facts.decided
    yield f"This gave {results:,} of {plural(facts.decided, f'possible {unit}', f'possible {unit}s')} ({share:.1%})."
    if facts.reviewed:
        yield f"{reviewed_labels(facts.reviewed)} Agreement was measured on the annotations before the review."


def _accepted(stages: Sequence[RunningStage]) -> str:
    """From which confidence labels were accepted, with the names of stages if they differ."""
    bounds: defaultdict[float, list[str]] = defaultdict(list)
    for stage in stages:
        bounds[stage.settings.release_confidence].append(stage.name)
    when = {bound: f"at a confidence of {bound:g} or more" if bound else "at any confidence" for bound in bounds}
    if len(bounds) == 1:
        return next(iter(when.values()))
    return ", and ".join(f"{when[bound]} in {listed(names)}" for bound, names in bounds.items())


def reviewed_labels(reviewed: Sequence[Mapping[str, Any]]) -> str:
    """A sentence on the labels that reviewers decided."""
    items, changed = (sum(one[name] for one in reviewed) for name in ("items", "changed"))
    return f"Reviewers decided {plural(items, 'label', 'labels')} and changed {changed:,} of them."


def _agreement(facts: MethodsFacts, stages: set[str]) -> Iterator[str]:
    """Agreement beyond chance where it is defined; elsewhere, by the mean distance between two answers."""
    agreement = facts.agreement
    known = [one for one in agreement["coefficients"] if one.get("value") is not None and one["stage"] in stages]
    for coefficient in known[:_MOST_NAMED]:
        yield f"{coefficient['coefficient']} was {with_interval(coefficient)} for {_question(coefficient)}."
    if len(known) > _MOST_NAMED:
        more = plural(len(known) - _MOST_NAMED, "more question", "more questions")
        yield f"The report has the agreement on {more}."
    alike = [] if known else [one for one in agreement["by_distance"] if one["stage"] in stages][:_MOST_NAMED]
    for coefficient in alike:
        yield f"Mean pairwise agreement (1 − distance) was {with_interval(coefficient)} for {_question(coefficient)}."
    if known or alike:
        yield (
            f"The intervals of agreement are from a bootstrap over items ({facts.resampling.resamples:,} resamples). "
            "Fractions computed from few items have Wilson intervals instead."
        )


def _question(coefficient: Mapping[str, Any]) -> str:
    """A question as part of a sentence: a field of a stage, or the stage if its answers have no fields.

    >>> _question({"stage": "reviews", "field": "mood"}), _question({"stage": "reviews", "field": None})
    ('“mood” in reviews', 'reviews')
    """
    return f"“{coefficient['field']}” in {coefficient['stage']}" if coefficient["field"] else str(coefficient["stage"])


def with_interval(scored: Mapping[str, Any], digits: int = 2) -> str:
    """A value with its interval, as text."""
    value = shown_number(scored["value"], digits)
    if not scored.get("ci"):
        return f"{value} (95% interval: {TOO_FEW_TEXT})"
    low, high = (shown_number(end, digits) for end in scored["ci"])
    return f"{value} (95% interval {low} to {high})"


def _exclusions(facts: MethodsFacts) -> Iterator[str]:
    left_out = [] if facts.imported is None else facts.imported.left_out_sentences()
    yield from left_out
    discarded, withdrawn = (sum(getattr(one, name) for one in facts.now.stages) for name in ("discarded", "withdrawn"))
    if discarded:
        yield f"{plural(discarded, 'annotation was', 'annotations were')} excluded because of removed workers."
    if withdrawn:
        yield f"{plural(withdrawn, 'item was', 'items were')} withdrawn because an earlier label changed."
    if not discarded and not withdrawn:
        yield "No other annotation was excluded." if left_out else "No annotation was excluded."


def _comparisons(study: Study) -> Iterator[str]:
    if study.settings.arms is None:
        return
    plan = study.settings.analysis
    if plan is None:
        yield "No comparison of arms was planned."
        return
    alike: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for planned in plan.planned:
        alike[planned.against or study.settings.arms.names[0], planned.test, planned.unit].append(planned.outcome)
    for (against, test, unit), outcomes in alike.items():
        named = "outcome" if len(outcomes) == 1 else "outcomes"
        which = f" in the {named} {listed([f'“{outcome}”' for outcome in outcomes])}" if len(alike) > 1 else ""
        yield (
            f"As planned, the other arms were compared with the arm {against}{which}, by {test} tests over {unit}s, "
            f"with bootstrap intervals over {unit}s."
        )
    yield "Holm's correction was applied to the comparisons of each outcome."
