"""Whether people get here from the panel they are to come from, and back to it when they have finished."""

from chorale.files.toml_lines import line_of
from chorale.folder.reading import SETTINGS_FILE, StudyFolder
from chorale.model import Problem, StudySettings
from chorale.model.panels import PANELS


def about_panel(folder: StudyFolder) -> list[str]:
    """Notes on how people join from a recruitment platform and return to it; none for studies that use no platform."""
    if folder.settings.arrival.by_url is False or not _uses_platform(folder.settings):
        return []
    return [
        *_no_fee(folder),
        *_no_screenout_code(folder),
        *_nobody_vouches(folder),
        *_assumed_worker_parameter(folder),
        *_no_way_back(folder),
    ]


def _uses_platform(settings: StudySettings) -> bool:
    """Whether the study file names a platform. Links of the usual one are closed to the public unless it does."""
    arrival = settings.arrival
    return settings.prolific is not None or bool(arrival.by_url) or bool({"panel", "signed"} & arrival.model_fields_set)


def lacks_fee(settings: StudySettings) -> bool:
    """Whether people come from a panel whose fee nobody has set."""
    named = settings.prolific is not None or "panel" in settings.arrival.model_fields_set
    return named and settings.arrival.by_url is not False and "fee_percent" not in settings.pay.model_fields_set


def _no_fee(folder: StudyFolder) -> list[str]:
    """The note on a panel whose fee nobody has set: costs and budget would leave it out."""
    settings = folder.settings
    if not lacks_fee(settings):
        return []
    line = line_of(folder.settings_text, ("arrival", "panel"))
    message = f"the fee of {settings.arrival.panel} is not set, so costs and budget leave it out"
    fix = "Set `fee_percent` in [pay] to what it charges on top of payments; 0 if it charges nothing"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]


def _no_screenout_code(folder: StudyFolder) -> list[str]:
    """The note on gates whose failing people would have no code to go back with."""
    settings, arrival = folder.settings, folder.settings.arrival
    if not settings.gate or settings.prolific is not None:
        return []
    if arrival.completion_code is None or arrival.screenout_code is not None:
        return []
    line = line_of(folder.settings_text, ("arrival", "completion_code"))
    message = f"people from {arrival.panel} who do not pass a gate have no code to go back with"
    fix = "Set `screenout_code` in [arrival]. They never get the completion code"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]


def _nobody_vouches(folder: StudyFolder) -> list[str]:
    """Links that anybody can make up."""
    arrival = folder.settings.arrival
    if arrival.signed is not None or folder.settings.prolific is not None:
        return []
    line = line_of(folder.settings_text, ("arrival", "by_url")) if arrival.by_url else None
    what = f"links from {arrival.panel} are not signed, so anybody can make one up"
    if arrival.by_url:
        fix = 'Set `signed = "prolific"` in [arrival] if people come from Prolific'
    else:
        what += "; with --public-url they let nobody in"
        fix = 'Set `signed = "prolific"` in [arrival], or `by_url = true` to let people in all the same'
    return [str(Problem(SETTINGS_FILE, line, what, fix))]


def _assumed_worker_parameter(folder: StudyFolder) -> list[str]:
    """Of a panel that is not known here, that Prolific's name is taken for its own."""
    arrival = folder.settings.arrival
    if arrival.panel in PANELS or "worker_parameter" in arrival.model_fields_set:
        return []
    line = line_of(folder.settings_text, ("arrival", "panel"))
    message = f"links from {arrival.panel} are expected to carry the person's id as {arrival.worker_parameter}"
    fix = "That is Prolific's name. Set `worker_parameter` in [arrival] to what your panel calls it, be it the same"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]


def _no_way_back(folder: StudyFolder) -> list[str]:
    """The note on a panel whose people have no link back and may need one."""
    arrival = folder.settings.arrival
    panel, code, url = PANELS.get(arrival.panel), arrival.completion_code, arrival.completion_url
    # Whoever comes by a study that is made on Prolific has that one's code.
    coded = code is not None or folder.settings.prolific is not None
    if url is not None and (coded or "{code}" not in url):
        return []
    if (panel is not None and panel.takes_code and coded) or "panel" not in arrival.model_fields_set:
        return []
    sees = f"only read the code {code}" if code else "have neither a link nor a code"
    if url is not None:
        fix = "Set `completion_code` in [arrival]: the address has a place for it"
    else:
        fix = "Set `completion_url` in [arrival] to the address the panel gives you, with {code} or {worker} in it"
        if panel is None or panel.takes_code:
            fix += "; a panel where people enter the code by hand needs none" if code else ", or `completion_code`"
    line = line_of(folder.settings_text, ("arrival", "panel"))
    message = f"people from {arrival.panel} {sees} when they have finished"
    return [str(Problem(SETTINGS_FILE, line, message, fix))]
