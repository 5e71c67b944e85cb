"""Dependencies between stages in a simulation."""

from chorale.engine.running import Study
from chorale.monitor.costs import final_stages_of_arm


def rated_stages(study: Study) -> frozenset[str]:
    """The stages whose answers are seen by others, and those with an arm's results."""
    passed_on = {name for name, stage in study.stages.items() if study.made_of(stage) - {"results"}}
    arms = study.settings.arms.names if study.settings.arms is not None else ()
    return frozenset(passed_on | {stage.name for arm in arms for stage in final_stages_of_arm(study, arm)})


def decisive_stages(study: Study) -> frozenset[str]:
    """The stages whose answers may trigger a gate's decision, a sample or a review of worker quality."""
    judged = {name for gate in study.gates.values() for name in gate.settings.stage}
    judged |= {
        name
        for name, stage in study.stages.items()
        if stage.settings.graded_stages or stage.settings.quality is not None
    }
    drawing = [
        stage
        for stage in study.stages.values()
        if stage.per_worker is not None or stage.settings.judgments.sample is not None
    ]
    return frozenset(judged.union(*(rests_on(study, source) for stage in drawing for source in stage.settings.sources)))


def rests_on(study: Study, name: str) -> tuple[str, ...]:
    """A stage and all its direct and indirect source stages."""
    stages = [name]
    for each in stages:
        stages += [source for source in study.stage(each).settings.sources if source not in stages]
    return tuple(stages)


def things_fall_due(study: Study) -> bool:
    """Whether gates close, samples are taken, or people are removed by quality automatically."""
    return bool(study.gates) or any(
        stage.settings.judgments.sample is not None
        or stage.per_worker is not None
        or stage.settings.quality is not None
        for stage in study.stages.values()
    )
