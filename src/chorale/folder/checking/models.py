"""Whether the models of a study file can annotate: they exist, their files do, and no key is sent in the clear."""

from collections import Counter
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from chorale.contract import Task
from chorale.contract.prompts import why_people_only
from chorale.folder.checking.named_files import located
from chorale.folder.checking.report import CheckReport, did_you_mean
from chorale.model import ModelSettings, StageSettings, StudySettings


def check_models(settings: StudySettings, tasks: Sequence[Task | None], report: CheckReport) -> None:
    """Models, and the stages that name them. `tasks` are those of the stages, where they are known."""
    names = Counter(model.name for model in settings.model)
    for index, model in enumerate(settings.model):
        if names[model.name] > 1:
            fix = "Give every model a name of its own."
            report.setting(("model", index, "name"), "is the name of another model too", fix, model.name)
        if model.answers is not None:
            located(model.answers, ("model", index, "answers"), report)
        if model.key is not None and _is_in_the_clear(model):
            report.setting(
                ("model", index, "endpoint"),
                "would send the API key unencrypted",
                "Use an https address, or a server on this computer.",
                model.endpoint,
            )
        if model.confidence == "samples" and not model.temperature and model.answers is None:
            report.setting(
                ("model", index, "temperature"),
                "is 0, so that all samples would be the same",
                'Set a temperature above 0, or remove `confidence = "samples"`.',
                model.temperature,
            )
        if model.confidence == "logprobs" and (model.protocol == "anthropic" or model.command is not None):
            report.setting(
                ("model", index, "confidence"),
                "needs token probabilities, which this kind of model does not give",
                'Use "samples" or "stated".',
                model.confidence,
            )
    for index, (stage, task) in enumerate(zip(settings.stage, tasks, strict=True)):
        _check_stage(index, stage, settings, report)
        why = None if task is None or stage.models is None else why_people_only(task.form)
        if why is not None:
            report.setting(
                ("stage", index, "models"), why, "Remove [stage.models] here: only people can do this stage."
            )


def _check_stage(index: int, stage: StageSettings, settings: StudySettings, report: CheckReport) -> None:
    rule = stage.models
    if rule is None:
        return
    known = {model.name: "" for model in settings.model}
    at = ("stage", index, "models")
    if not known:
        report.setting(at, "names models, and the study file has none", "Add a [[model]] table, or remove this one.")
        return
    if stage.round is not None:
        fix = "Remove [stage.models] here: models do the rounds that lead to the stages they annotate."
        report.setting(at, "is in a round", fix)
    for name in rule.use:
        if name not in known:
            report.setting((*at, "use"), f"there is no model {name!r}", did_you_mean(name, known), name)


def _is_in_the_clear(model: ModelSettings) -> bool:
    address = urlsplit(model.endpoint or "")
    if address.scheme != "http":
        return False
    host = address.hostname or ""
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"
