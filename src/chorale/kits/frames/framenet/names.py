"""Frames that were renamed between releases."""

from collections.abc import Mapping
from pathlib import Path

from chorale.files.shortening import shortened
from chorale.kits.frames.files.reading import RowReading

_COLUMNS = (("old_frame", "new_frame"), ("old", "new"))

_SINCE_THE_FIRST_RELEASES: Mapping[str, tuple[str, ...]] = {
    "adorning": ("Abounding_with",),
    "appearance": ("Give_impression",),
    "bail_setting": ("Bail_decision",),
    "become_silent": ("Becoming_silent",),
    "birth": ("Giving_birth",),
    "carrying": ("Bringing",),
    "cause_change_of_scalar_position": ("Cause_change_of_position_on_a_scale",),
    "cause_confinement": ("Inhibit_movement",),
    "chemical_sense_description": ("Chemical-sense_description",),
    "clothing_status": ("Wearing",),
    "congregating": ("Come_together",),
    "defend": ("Defending",),
    "deny_permission": ("Deny_or_grant_permission",),
    "experiencer_subj": ("Experiencer_focus",),
    "grant_permission": ("Deny_or_grant_permission",),
    "hear": ("Hearsay",),
    "imitation": ("Imitating",),
    "import_export": ("Import_export_scenario",),
    "inchoative_attaching": ("Becoming_attached",),
    "inchoative_change_of_temperature": ("Change_of_temperature",),
    "influence_of_event_on_cognizer": ("Subjective_influence",),
    "invention": ("Coming_up_with",),
    "make_possible_to_do": ("Preventing_or_letting",),
    "name_bearing": ("Being_named",),
    "newcomer": ("Replacing",),
    "permitting": ("Deny_or_grant_permission",),
    "place_weight_on": ("Emphasizing",),
    "possibilities": ("Alternatives",),
    "prevent_from_having": ("Prevent_or_allow_possession",),
    "preventing": ("Preventing_or_letting",),
    "progress": ("Progression",),
    "prohibiting": ("Prohibiting_or_licensing",),
    "reading": ("Reading_perception",),
    "risk_action": ("Daring",),
    "separation": ("Separating",),
    "slice": ("Cutting",),
    "speed": ("Speed_description",),
    "transformation": ("Cause_change", "Undergo_change"),
    "warrant": ("Deserving",),
    "working_on": ("Work",),
}
"""Frames of releases up to 1.5 that were renamed or split in 1.7."""


def frame_key(name: str) -> str:
    """Normalised name for comparison: `Cause harm`, `cause_harm` and `f:Cause_harm` are the same frame.

    >>> frame_key("f:Cause harm")
    'cause_harm'
    """
    return "_".join(name.strip().removeprefix("f:").split()).casefold()


def newer_names(name: str, changes: Mapping[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """The names in FrameNet 1.7 of a frame of an earlier release; unchanged if no renaming is known.

    `changes`, by `frame_key`, take precedence over the built-in ones.

    >>> newer_names("Invention"), newer_names("Motion")
    (('Coming_up_with',), ('Motion',))
    """
    key = frame_key(name)
    return (changes or {}).get(key) or _SINCE_THE_FIRST_RELEASES.get(key) or (name,)


def read_name_changes(path: Path) -> dict[str, tuple[str, ...]]:
    """Reads old and new names from a .csv, .tsv or .jsonl file with the columns `old_frame` and `new_frame`."""
    reading = RowReading()
    changes: dict[str, tuple[str, ...]] = {}
    for row in reading.rows(path):
        pair = next(((row.values.get(old), row.values.get(new)) for old, new in _COLUMNS if old in row.values), None)
        old, new = pair or (None, None)
        if not isinstance(old, str) or not isinstance(new, str) or not old.strip() or not new.strip():
            fix = "Give every row an old_frame and a new_frame."
            reading.report(path, row.line, "has no old_frame or no new_frame", fix, shortened(row.values))
            continue
        key = frame_key(old)
        changes[key] = (*changes.get(key, ()), new.strip())
    reading.check(f"{path} can't be used")
    return changes
