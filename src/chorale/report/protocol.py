"""A study's protocol as a picture and in words, straight from its settings."""

from collections.abc import Iterator

from chorale.engine.graph import gate_node, study_edges
from chorale.engine.running import RunningStage, Study
from chorale.model import GateSettings, GoldSettings, StageSettings, StudySettings, money_text
from chorale.model.plural import plural
from chorale.present.svg import Link, Node, graph_picture
from chorale.report.document import Bullets, Drawn, Section


def protocol_section(study: Study) -> Section:
    settings = study.settings
    stages = {stage.name: list(_stage_words(stage, settings)) for stage in settings.stage}
    gates = {gate.name: list(_gate_words(gate, settings)) for gate in settings.gate}
    arms = _arms_words(settings)
    lines = [f"{name}: {' '.join(words)}" for name, words in stages.items()]
    lines += [f"Gate {name}: {' '.join(words)}" for name, words in gates.items()]
    if arms:
        lines.append(arms)
    return Section(
        "protocol",
        "Protocol",
        [Drawn("The protocol, drawn from the study file", protocol_diagram(study)), Bullets(lines)],
        {"stages": stages, "gates": gates, "arms": arms},
    )


def protocol_diagram(study: Study) -> str:
    """Stages and gates: what items are made from, and who may continue where."""
    nodes = [Node(name, name, (_kind(stage),)) for name, stage in study.stages.items()]
    nodes += [Node(gate_node(name), name, ("gate",), is_gate=True) for name in study.gates]
    links = [Link(each.source, each.target, each.people) for each in study_edges(study)]
    words = "; ".join(f"{link.source} to {link.target}" for link in links)
    return graph_picture(f"Stages and gates of {study.settings.study.title}", nodes, links, description=words)


def _kind(stage: RunningStage) -> str:
    """The arms it is for, if it is not for all; the task; and whether everybody does the same."""
    arms = f"{' and '.join(stage.settings.arms)}: " if stage.settings.arms else ""
    return arms + stage.task.name + (", round" if stage.settings.round else "")


def judgments_in_words(stage: StageSettings) -> str:
    """How many judgments an item gets.

    >>> from chorale.model import JudgmentSettings, StageSettings
    >>> stage = {"name": "a", "title": "A", "task": "form", "guidelines": "g.md", "items": {"file": "i.jsonl"}}
    >>> judgments_in_words(StageSettings.model_validate(stage | {"judgments": {"min": 3, "max": 5, "until": 0.8}}))
    '3 to 5 judgments, until confidence reaches 0.8'
    """
    rule = stage.judgments
    if rule.min == rule.max:
        words = "1 judgment" if rule.min == 1 else f"{rule.min} judgments"
    elif rule.until == 0:
        words = f"{rule.min} to {rule.max} judgments"
    else:
        ends = [f"confidence reaches {rule.until:g}"] if rule.until is not None else []
        if rule.stable is not None:
            ends.append(f"the order of options has not changed for {rule.stable} judgments")
        words = f"{rule.min} to {rule.max} judgments, until {' or '.join(ends)}"
    if rule.sample is not None:
        which = f"{rule.sample.share:.0%}" if rule.sample.share is not None else f"{rule.sample.items:,}"
        of = "the items"
        if rule.sample.items is not None and len(stage.sources) > 1:
            of += f" from each of {' and '.join(stage.sources)}"
        words += f"; {which} of {of}, drawn by chance, get {rule.sample.judgments}"
    return words


def gold_in_words(gold: GoldSettings) -> tuple[str, str]:
    """On which known answers somebody's accuracy counts, and when it is too low.

    >>> from chorale.model import GoldSettings
    >>> gold_in_words(GoldSettings(file="g.jsonl", floor=0.5, after=3, window=5))
    ('the latest 5 of these', 'below 0.5 after 3 such answers')
    """
    of = "these" if gold.window is None else f"the latest {gold.window:,} of these"
    if gold.smoothing:
        of += f", with {gold.smoothing:g} more counted as right by the share of {gold.floor:g},"
    if gold.unit == "part":
        of += ", every part by itself"
    return of, f"below {gold.floor:g} after {plural(gold.after, 'such answer', 'such answers')}"


def _stage_words(stage: StageSettings, settings: StudySettings) -> Iterator[str]:
    currency = settings.pay.currency
    yield f"“{stage.title}”, a stage of the task {stage.task}."
    if stage.round is not None:
        size = "all" if stage.round.size is None else f"{stage.round.size:,}"
        when = "at once" if stage.round.feedback == "at once" else "afterwards"
        yield f"A round: everybody answers {size} of the same items with known answers and hears about them {when}."
    elif stage.items is not None and stage.items.from_:
        made = {"results": "the results", "answers": "every answer", "together": "all answers to each item together"}
        share = (
            "" if stage.items.sample == 1 else f" {stage.items.sample:.3g} of what could be made is, drawn by chance."
        )
        if stage.items.per_worker is not None:
            share = f" {stage.items.per_worker:,} of everybody's are, drawn by chance."
        bound = f" of confidence {stage.items.confidence:g} or more" if stage.items.of == "results" else ""
        yield f"Items are made from {made[stage.items.of]} of {' and '.join(stage.items.from_)}{bound}.{share}"
    else:
        yield "Items come from a file."
    if stage.round is None:
        yield f"Every item gets {judgments_in_words(stage)}."
        if not stage.grades:
            yield f"Results of confidence {stage.release_confidence:g} or more are released."
    if stage.arms:
        yield f"For the {'arm' if len(stage.arms) == 1 else 'arms'} {' and '.join(stage.arms)} only."
    if stage.grades:
        yield "Its answers are grades of the answers that its items were made from."
    if stage.grades_sources:
        yield "The answers that its items were made from are graded by how much of them it keeps."
    yield from _people_words(stage)
    yield from _pay_words(stage, currency)


def _people_words(stage: StageSettings) -> Iterator[str]:
    entry = stage.entry
    if entry.qualifications:
        yield f"Open to those who are {' and '.join(entry.qualifications)}."
    if entry.qualified_in is not None:
        yield (
            f"Open to those who had {entry.accuracy:.0%} or more of at least {entry.answered} gold answers right in "
            f"{entry.qualified_in}."
        )
    if stage.sources and entry.exclude_contributors:
        yield "Nobody gets an item made from their own work."
    if stage.max_per_worker is not None:
        yield f"Nobody gives more than {stage.max_per_worker:,} answers."
    if stage.gold is not None:
        of, too_low = gold_in_words(stage.gold)
        yield (
            f"{stage.gold.share:.0%} of the items people get have known answers; whose accuracy on {of} falls "
            f"{too_low} is dropped, and their judgments no longer count."
        )
    if stage.quality is not None and stage.quality.floor is not None:
        yield f"Whose agreement with others (WQS) falls below {stage.quality.floor:g} is dropped."


def _pay_words(stage: StageSettings, currency: str) -> Iterator[str]:
    pay = stage.pay
    if pay.per_judgment:
        yield f"A judgment pays {money_text(pay.per_judgment, currency)}."
    if pay.by_length is not None:
        per, most = (money_text(amount, currency) for amount in (pay.by_length.per_100_words, pay.by_length.most))
        yield f"Every 100 words of an item pay {per}, up to {most}."
    if pay.finished and stage.grades:
        enough = f"{pay.finished_from:,} answers or more" if pay.finished_from > 1 else "any"
        yield f"Whoever gave {enough} gets {money_text(pay.finished, currency)} when the gate closes."
    elif pay.finished:
        yield f"Finishing pays {money_text(pay.finished, currency)}."
    if pay.parts is not None:
        amounts = ", ".join(money_text(amount, currency) for amount in pay.parts.amounts)
        yield f"Parts of an answer beyond {pay.parts.beyond} pay {amounts} each in turn."
    if pay.kept is not None:
        amounts = ", ".join(money_text(amount, currency) for amount in pay.kept.amounts)
        yield f"Parts of an answer beyond {pay.kept.beyond} that a later stage keeps pay {amounts} each in turn."
    if stage.gold is not None and stage.gold.bonus is not None:
        bonus = stage.gold.bonus
        yield f"{bonus.right} of {bonus.of} gold answers right earn {money_text(bonus.amount, currency)}."


def _gate_words(gate: GateSettings, settings: StudySettings) -> Iterator[str]:
    if gate.threshold is not None:
        passing = f"those whose mean score is {gate.threshold:g} or more"
    elif gate.top_share is not None:
        passing = f"the best {gate.top_share:.0%}"
    else:
        passing = f"the best {gate.top}"
    yield f"looks at graded answers in {' and '.join(gate.stage)} and passes {passing}."
    if gate.floor and gate.threshold is None:
        yield f"Nobody passes with less than {gate.floor:g}."
    for name, least in sorted(gate.criteria.items()):
        yield f"Nobody passes whose mean by {name} is less than {least:g}."
    if gate.bonus:
        yield f"Passing pays {money_text(gate.bonus, settings.pay.currency)}."
    if gate.promote is not None:
        yield f"The best {gate.promote.top_share:.0%} become {gate.promote.to}."
    if gate.message is not None:
        read = ", which an expert reads before it is sent" if gate.review else ""
        yield f"Everybody who was scored gets a message with their feedback{read}."


def _arms_words(settings: StudySettings) -> str | None:
    if settings.arms is None:
        return None
    weights = settings.arms.weights
    ratio = f" in the ratio {':'.join(map(str, weights))}" if weights else ""
    when = f"after passing {settings.arms.after}" if settings.arms.after else "at consent"
    within = ", balanced within every panel" if settings.arms.stratify else ""
    blocks = ", in blocks of random size" if len(set(settings.arms.blocks)) > 1 else ""
    return f"Arms: people are put into {', '.join(settings.arms.names)} by chance{ratio}, {when}{within}{blocks}."
