"""Notes on the recruitment platform: whether people can join from it and return to it when they have finished."""

from chorale.files.toml_lines import line_of
from chorale.folder.reading import SETTINGS_FILE, StudyFolder
from chorale.model import Problem, StudySettings
from chorale.model.panels import PANELS


def about_panel(folder: StudyFolder) -> list[str]:
    """Notes on joining from a recruitment platform and returning to it; none for studies without a platform."""
    if folder.settings.arrival.by_url is False or not uses_platform(folder.settings):
        return []
    return [
        *_no_fee(folder),
        *_no_screenout_code(folder),
        *_nobody_vouches(folder),
        *_assumed_worker_parameter(folder),
        *_no_way_back(folder),
    ]


def uses_platform(settings: StudySettings) -> bool:
    """Whether the study file names a platform. Otherwise, platform links are closed to the public."""
    arrival = settings.arrival
    named = {"panel", "signed", "completion_code"} & arrival.model_fields_set
    return settings.prolific is not None or bool(arrival.by_url) or bool(named)


def lacks_fee(settings: StudySettings) -> bool:
    """Whether people join from a platform whose fee is not set."""
    named = settings.prolific is not None or "panel" in settings.arrival.model_fields_set
    return named and settings.arrival.by_url is not False and "fee_percent" not in settings.pay.model_fields_set


def _no_fee(folder: StudyFolder) -> list[str]:
    """The note on a platform whose fee is not set: costs and budget would exclude it."""
    settings = folder.settings
    if not lacks_fee(settings):
        return []
    line = line_of(folder.settings_text, ("arrival", "panel"))
    message = f"the fee of {settings.arrival.panel} is not set, so costs and budget exclude it"
    fix = "Set `fee_percent` in [pay] to the percentage it charges, or to 0"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]


def _no_screenout_code(folder: StudyFolder) -> list[str]:
    """The note on gates where people who fail have no code to return with."""
    settings, arrival = folder.settings, folder.settings.arrival
    if not settings.gate or settings.prolific is not None:
        return []
    if arrival.completion_code is None or arrival.screenout_code is not None:
        return []
    line = line_of(folder.settings_text, ("arrival", "completion_code"))
    message = (
        f"people from {arrival.panel} who fail a gate have no code to return with: they never get the completion code"
    )
    fix = "Set `screenout_code` in [arrival]"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]


def _nobody_vouches(folder: StudyFolder) -> list[str]:
    """The note on links that anybody can forge."""
    arrival = folder.settings.arrival
    if arrival.signed is not None or folder.settings.prolific is not None:
        return []
    line = line_of(folder.settings_text, ("arrival", "by_url")) if arrival.by_url else None
    problem = f"links from {arrival.panel} are not signed, so anybody can forge one"
    if not arrival.by_url:
        problem += ". With --public-url, they are refused"
    if arrival.panel == "prolific":
        fix = 'Set `signed = "prolific"` in [arrival]'
        fix += "" if arrival.by_url else ", or `by_url = true` to accept unsigned links"
    elif arrival.by_url:
        fix = "Before you pay, compare who joined with the platform's own list"
    else:
        fix = "Set `by_url = true` in [arrival] to accept unsigned links"
    return [str(Problem(SETTINGS_FILE, line, problem, fix))]


def _assumed_worker_parameter(folder: StudyFolder) -> list[str]:
    """The note on an unknown platform for which Prolific's parameter name is used."""
    arrival = folder.settings.arrival
    if arrival.panel in PANELS or "worker_parameter" in arrival.model_fields_set:
        return []
    line = line_of(folder.settings_text, ("arrival", "panel"))
    message = (
        f"links from {arrival.panel} are expected to have the person's ID as {arrival.worker_parameter}, as on Prolific"
    )
    fix = "Set `worker_parameter` in [arrival] to the name that your platform uses"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]


def has_way_back(settings: StudySettings) -> bool:
    """Whether people who finish get a link or a code that the platform accepts."""
    arrival, url = settings.arrival, settings.arrival.completion_url
    # People who join from a study made on Prolific have its code.
    coded = arrival.completion_code is not None or settings.prolific is not None
    panel = PANELS.get(arrival.panel)
    return (url is not None and (coded or "{code}" not in url)) or (panel is not None and panel.takes_code and coded)


def _no_way_back(folder: StudyFolder) -> list[str]:
    """The note on a platform whose people have no link back and may need one."""
    arrival = folder.settings.arrival
    panel, code, url = PANELS.get(arrival.panel), arrival.completion_code, arrival.completion_url
    if has_way_back(folder.settings) or "panel" not in arrival.model_fields_set:
        return []
    sees = f"only see the code {code}" if code else "get neither a link nor a code"
    if url is not None and panel is not None and url == panel.completion_url:
        fix = "Set `completion_code` in [arrival] to the platform's code for finished work"
    elif url is not None:
        fix = "Set `completion_code` in [arrival]: it replaces {code} in `completion_url`"
    else:
        fix = "Set `completion_url` in [arrival] to the address from the platform, with {code} or {worker} in it"
        if panel is None or panel.takes_code:
            fix += (
                ". If people enter the code by hand on your platform, no URL is needed"
                if code
                else ", or `completion_code`"
            )
    line = line_of(folder.settings_text, ("arrival", "panel"))
    message = f"people from {arrival.panel} {sees} when they finish"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]
