"""A study's protocol as a picture and in words, from its settings."""

from collections.abc import Iterator, Mapping, Sequence

from chorale.engine.graph import gate_node, study_edges
from chorale.engine.running import RunningStage, Study
from chorale.model import GateSettings, GoldSettings, ItemSettings, PartsBonus, StageSettings, StudySettings, money_text
from chorale.model.plural import plural
from chorale.present.svg import GraphLink, Node, graph_picture
from chorale.report.document import Bullets, Drawn, Section

_CAPTION = "Stages and gates of the study. Items move along solid arrows, people along dashed arrows."


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def protocol_section(study: Study, per_item: Mapping[str, str] | None = None) -> Section:
    """Every setting of the protocol in words, for the appendix.

    `per_item` is how many annotations the items of imported stages have, in words.
    """
    settings = study.settings
    given = per_item or {}
    stages = {
        stage.name: list(_stage_words(study.stages[stage.name], settings, given.get(stage.name)))
        for stage in settings.stage
    }
    gates = {gate.name: list(_gate_words(gate, settings)) for gate in settings.gate}
    arms = arms_in_words(settings)
    lines = [f"{name}: {' '.join(words)}" for name, words in stages.items()]
    lines += [f"Gate {name}: {' '.join(words)}" for name, words in gates.items()]
    if arms:
        lines.append(f"Arms: {arms}")
    drawn = Drawn(_CAPTION, protocol_diagram(study))
    json = {"stages": stages, "gates": gates, "arms": arms}
    return Section("protocol", "Protocol", [], json, [drawn, Bullets(lines)])


def protocol_diagram(study: Study) -> str:
    """Stages and gates: where items come from, and who may continue where."""
    nodes = [Node(name, name, (_kind(stage),)) for name, stage in study.stages.items()]
    nodes += [Node(gate_node(name), name, ("gate",), is_gate=True) for name in study.gates]
    links = [GraphLink(each.source, each.target, each.people) for each in study_edges(study)]
    words = "; ".join(f"{link.source} to {link.target}" for link in links)
    return graph_picture(f"Stages and gates of {study.settings.study.title}", nodes, links, description=words)


def _kind(stage: RunningStage) -> str:
    """A stage's task, its arms unless it is for all, and whether it is a training round."""
    arms = f"{listed(stage.settings.arms)}: " if stage.settings.arms else ""
    return arms + stage.task.name + (", training round" if stage.settings.round else "")


def judgments_in_words(stage: StageSettings) -> str:
    """How many annotations an item gets.

    >>> from chorale.model import JudgmentSettings, StageSettings
    >>> stage = {"name": "a", "title": "A", "task": "form", "guidelines": "g.md", "items": {"file": "i.jsonl"}}
    >>> judgments_in_words(StageSettings.model_validate(stage | {"judgments": {"min": 3, "max": 5, "until": 0.8}}))
    '3 to 5 annotations, until confidence reaches 0.8'
    """
    rule = stage.judgments
    if rule.min == rule.max:
        words = plural(rule.min, "annotation", "annotations")
    elif rule.until == 0:
        words = f"{rule.min} to {rule.max} annotations"
    else:
        ends = [f"confidence reaches {rule.until:g}"] if rule.until is not None else []
        if rule.stable is not None:
            ends.append(f"the order of options has not changed for {rule.stable} annotations")
        words = f"{rule.min} to {rule.max} annotations, until {' or '.join(ends)}"
    if rule.sample is not None:
        which = f"{rule.sample.share:.0%}" if rule.sample.share is not None else f"{rule.sample.items:,} items"
        of = " per source" if rule.sample.items is not None and len(stage.sources) > 1 else ""
        words += f" ({rule.sample.judgments} for a random sample of {which}{of})"
    return words


def gold_rule(gold: GoldSettings) -> str:
    """When a worker's gold accuracy is too low.

    >>> from chorale.model import GoldSettings
    >>> gold_rule(GoldSettings(file="g.jsonl", floor=0.5, after=3, window=5))
    'a gold accuracy below 0.5 over the latest 5 gold answers, after 3 gold answers'
    """
    of = "" if gold.window is None else f" over the latest {gold.window:,} gold answers,"
    parts = ", counting every part of an answer," if gold.unit == "part" else ""
    prior = f" (smoothed by {gold.smoothing:g} answers)" if gold.smoothing else ""
    after = plural(gold.after, "gold answer", "gold answers")
    return f"a gold accuracy{prior} below {gold.floor:g}{of}{parts} after {after}"


def _derived_words(running: RunningStage, items: ItemSettings) -> Iterator[str]:
    sources = listed(items.from_)
    is_bound = items.of == "results" and not running.task.deriving.any_confidence
    bound = f" with a confidence of {items.confidence:g} or more" if is_bound else ""
    yield {
        "results": f"Items come from the labels of {sources}{bound}.",
        "answers": f"Items come from the answers in {sources}.",
        "together": f"Items come from {sources}: each combines all answers to one item.",
    }[items.of]
    for name, values in items.where.items():
        yield f"Only items whose label for {name} is {' or '.join(map(str, values))} are used."
    if items.below is not None:
        yield f"Only items with a confidence below {items.below:g} are used."
    if items.per_worker is not None:
        yield f"A random sample of {items.per_worker:,} per worker is used."
    elif items.sample != 1:
        yield f"A random sample of {100 * items.sample:.3g}% is used."


def _stage_words(running: RunningStage, settings: StudySettings, given: str | None) -> Iterator[str]:
    stage = running.settings
    yield f"“{stage.title}”, task {stage.task}."
    if stage.round is not None:
        size = "all items" if stage.round.size is None else plural(stage.round.size, "item", "items")
        yield f"A training round: everybody answers {size} with known answers."
        shown = "explained at once" if stage.round.feedback == "at once" else "not explained during the round"
        yield f"Wrong answers are {shown}."
    elif stage.items is not None and stage.items.from_:
        yield from _derived_words(running, stage.items)
    else:
        yield "Items come from a file."
    if stage.round is None:
        yield f"Every item gets {judgments_in_words(stage)}." if given is None else f"Every item has {given}."
        if not stage.grades:
            least = stage.release_confidence
            yield (
                f"Labels with a confidence of {least:g} or more are accepted." if least else "All labels are accepted."
            )
    if stage.arms:
        yield f"Only for the {'arm' if len(stage.arms) == 1 else 'arms'} {listed(stage.arms)}."
    if stage.grades:
        yield f"Its answers are grades for the answers in {listed(stage.sources)}."
    if stage.grades_sources:
        yield f"The answers in {listed(stage.sources)} are graded by how much of them this stage keeps."
    if stage.decides_sources:
        yield "Its accepted labels are the final labels of the reviewed items."
    yield from _people_words(stage)
    yield from _pay_words(stage, settings.pay.currency)


def _people_words(stage: StageSettings) -> Iterator[str]:
    entry = stage.entry
    if entry.qualifications:
        noun = "qualification" if len(entry.qualifications) == 1 else "qualifications"
        yield f"Requires the {noun} {listed(entry.qualifications)}."
    if entry.qualified_in is not None:
        yield (
            f"Requires a gold accuracy of {entry.accuracy:.0%} in {entry.qualified_in}, after at least "
            f"{entry.answered} gold answers."
        )
    if stage.sources and entry.exclude_contributors:
        yield "Nobody gets an item made from their own work."
    if stage.max_per_worker is not None:
        yield f"At most {plural(stage.max_per_worker, 'answer', 'answers')} per worker."
    if stage.gold is not None:
        # The share is lower if there was too little gold to show it only as often as other items.
        most = "" if stage.gold.reuse else "Up to "
        yield f"{most}{stage.gold.share:.0%} of the items are gold items with known answers."
        if stage.gold.floor:
            yield f"Workers with {gold_rule(stage.gold)} are removed, and their annotations no longer count."
    if stage.quality is not None and stage.quality.floor is not None:
        after = plural(stage.quality.after, "annotation", "annotations")
        yield f"Workers with a CrowdTruth quality (WQS) below {stage.quality.floor:g} after {after} are removed."


def _pay_words(stage: StageSettings, currency: str) -> Iterator[str]:
    pay = stage.pay
    if pay.per_judgment:
        yield f"An annotation pays {money_text(pay.per_judgment, currency)}."
    if pay.by_length is not None:
        per, most = (money_text(amount, currency) for amount in (pay.by_length.per_100_words, pay.by_length.most))
        yield f"Each 100 words of an item add {per}, up to {most}."
    if pay.finished and stage.grades:
        enough = plural(pay.finished_from, "answer or more", "answers or more")
        yield f"Workers with {enough} get {money_text(pay.finished, currency)} when the gate closes."
    elif pay.finished:
        yield f"Finishing pays {money_text(pay.finished, currency)}."
    if pay.parts is not None:
        yield _parts_words(" of an answer", pay.parts, currency)
    if pay.kept is not None:
        yield _parts_words(" that a later stage keeps", pay.kept, currency)
    if stage.gold is not None and stage.gold.bonus is not None:
        bonus = stage.gold.bonus
        amount = money_text(bonus.amount, currency)
        yield f"Every {bonus.of} gold answers with at least {bonus.right} correct ones earn a bonus of {amount}."


def _parts_words(which: str, rule: PartsBonus, currency: str) -> str:
    """The pay for parts of an answer: an amount for each of them, and the last amount for all further parts.

    >>> _parts_words(" of an answer", PartsBonus(beyond=2, amounts=(3, 4, 5)), "USD")
    'Parts of an answer, after the first 2, pay $0.03, $0.04, then $0.05 each.'
    >>> _parts_words(" of an answer", PartsBonus(amounts=(3,)), "USD")
    'Every part of an answer pays $0.03.'
    """
    after = f", after the first {rule.beyond}," if rule.beyond else ""
    *first, last = (money_text(amount, currency) for amount in rule.amounts)
    if not first:
        return f"Every part{which}{after} pays {last}."
    return f"Parts{which}{after} pay {', '.join(first)}, then {last} each."


def _gate_words(gate: GateSettings, settings: StudySettings) -> Iterator[str]:
    if gate.threshold is not None:
        passing = f"workers with a mean score of {gate.threshold:g} or more"
    elif gate.top_share is not None:
        passing = f"the best {gate.top_share:.0%}"
    else:
        passing = f"the best {gate.top}"
    yield f"Based on graded answers in {listed(gate.stage)}, {passing} pass."
    if gate.floor and gate.threshold is None:
        yield f"A mean score of at least {gate.floor:g} is required."
    for name, least in sorted(gate.criteria.items()):
        yield f"A mean of at least {least:g} for {name} is required."
    if gate.bonus:
        yield f"Passing pays {money_text(gate.bonus, settings.pay.currency)}."
    if gate.promote is not None:
        yield f"The best {gate.promote.top_share:.0%} get the qualification {gate.promote.to}."
    if gate.message is not None:
        read = ", which an expert approves before it is sent" if gate.review else ""
        yield f"Everybody with a score gets a message with feedback{read}."


def arms_in_words(settings: StudySettings) -> str | None:
    """How people are assigned to arms, in a sentence; None in a study without arms."""
    if settings.arms is None:
        return None
    weights = settings.arms.weights
    ratio = f" in the ratio {':'.join(map(str, weights))}" if weights else ""
    when = f"after the gate {settings.arms.after}" if settings.arms.after else "at consent"
    within = ", stratified by recruitment platform" if settings.arms.stratify else ""
    blocks = ", in blocks of random size" if len(set(settings.arms.blocks)) > 1 else ""
    return f"Workers were randomly assigned to {listed(settings.arms.names)}{ratio}, {when}{within}{blocks}."
