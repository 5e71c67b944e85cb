"""Check the models of a study file: models and files exist, and no key is sent unencrypted."""

from collections import Counter
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from chorale.contract import Task
from chorale.contract.prompts import why_people_only
from chorale.folder.checking.named_files import located
from chorale.folder.checking.report import CheckReport, did_you_mean
from chorale.model import ModelSettings, StageModels, StageSettings, StudySettings


def check_models(settings: StudySettings, tasks: Sequence[Task | None], consent: str, report: CheckReport) -> None:
    """Check the models and the stages that use them. `tasks` are the stages' tasks, where known."""
    names = Counter(model.name for model in settings.model)
    for index, model in enumerate(settings.model):
        if names[model.name] > 1:
            fix = "Give every model a unique name."
            report.setting(("model", index, "name"), "is also the name of another model", fix, model.name)
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
                "is 0, so all samples would be the same",
                'Set a temperature above 0, or remove `confidence = "samples"`.',
                model.temperature,
            )
        if model.confidence == "logprobs" and (model.protocol == "anthropic" or model.command is not None):
            report.setting(
                ("model", index, "confidence"),
                "needs token probabilities, which this kind of model does not provide",
                'Use "samples" or "stated".',
                model.confidence,
            )
    for index, (stage, task) in enumerate(zip(settings.stage, tasks, strict=True)):
        _check_stage(index, stage, settings, report)
        if stage.models is not None and stage.models.role == "suggest":
            _check_suggestions(("stage", index, "models"), stage, stage.models, task, settings, consent, report)
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
        report.setting(at, "names models, but the study file has none", "Add a [[model]] table, or remove this one.")
        return
    if stage.round is not None:
        fix = "Remove [stage.models] here: models do the rounds that lead to the stages they annotate."
        report.setting(at, "is in a round", fix)
    for name in rule.use:
        if name not in known:
            report.setting((*at, "use"), "there is no such model", did_you_mean(name, known), name, missing=True)
    if rule.role in ("first", "suggest"):
        _check_one_model(at, stage, rule, settings, report)


def _check_one_model(
    at: tuple[str | int, ...], stage: StageSettings, rule: StageModels, settings: StudySettings, report: CheckReport
) -> None:
    """Check that a single model answers first or suggests; to answer first, it needs a confidence and gold."""
    used = [model for model in settings.model if not rule.use or model.name in rule.use]
    if len(used) != 1:
        report.setting(
            (*at, "use"),
            f'names {len(used)} models, but role = "{rule.role}" needs exactly one',
            f'Name one: use = ["{settings.model[0].name}"].',
            [model.name for model in used],
        )
        return
    if rule.role == "suggest":
        return
    if used[0].confidence == "none":
        report.setting(
            (*at, "role"),
            f'is "first", but the model {used[0].name!r} has no confidence setting',
            'Set confidence = "logprobs", "samples" or "stated" in its [[model]] table.',
            rule.role,
        )
    if stage.gold is None:
        report.setting(
            (*at, "role"),
            'is "first", but the stage has no gold to calibrate the confidence',
            "Add [stage.gold] with at least 10 items, or choose another role.",
            rule.role,
        )


def _check_suggestions(
    at: tuple[str | int, ...],
    stage: StageSettings,
    rule: StageModels,
    task: Task | None,
    settings: StudySettings,
    consent: str,
    report: CheckReport,
) -> None:
    """Check that suggestions fit the form and the arms, and that the consent form discloses wrong suggestions."""
    if task is not None and task.form.module is not None and not task.form.suggests:
        report.setting(
            (*at, "role"),
            f'is "suggest", but the form of the task {task.name!r} can\'t show suggestions',
            "Choose another role.",
            rule.role,
        )
    known = {} if settings.arms is None else dict.fromkeys(settings.arms.names, "")
    for name in rule.arms:
        if name not in known:
            fix = did_you_mean(name, known) if known else "Add [arms], or remove this setting."
            report.setting((*at, "arms"), "there is no such arm", fix, name, missing=True)
    if not rule.wrong:
        return
    if stage.gold is None:
        fix = "Add [stage.gold], or set wrong = 0: only gold gets wrong suggestions."
        report.setting((*at, "wrong"), "is above 0, but the stage has no gold", fix, rule.wrong)
    check_disclosure((*at, "disclosure"), rule.disclosure, consent, settings, report)


def check_disclosure(
    at: tuple[str | int, ...], sentence: str | None, consent: str, settings: StudySettings, report: CheckReport
) -> None:
    """Check that a disclosure is in the consent form word for word, ignoring white space."""
    if sentence is None:
        report.setting(
            at,
            "is missing: workers must agree in the consent form to suggestions that are wrong on purpose",
            f"Copy the sentence about these suggestions from {settings.study.consent}.",
        )
    elif " ".join(sentence.split()) not in " ".join(consent.split()):
        report.setting(
            at,
            f"is not in {settings.study.consent}",
            f"Add this sentence to {settings.study.consent}, or correct it here.",
            sentence,
        )


def _is_in_the_clear(model: ModelSettings) -> bool:
    address = urlsplit(model.endpoint or "")
    if address.scheme != "http":
        return False
    host = address.hostname or ""
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"
