"""The gates of a study: their messages, read and tried."""

from collections.abc import Mapping
from typing import Any

from chorale.folder.checking.named_files import read_markdown
from chorale.folder.checking.report import CheckReport
from chorale.folder.checking.settings_shape import text_at
from chorale.folder.feedback import TemplateMistakeError, check_template
from chorale.model import StudySettings

_EXTRA = {"study": "a study", "contact": "team@example.org", "bonus": "1.00"}


def read_gates(raw: Mapping[str, Any], settings: StudySettings | None, report: CheckReport) -> dict[str, str]:
    """The templates of all messages, by file name. Each is filled with made-up work, so that it can be filled later."""
    listed = raw.get("gate")
    messages: dict[str, str] = {}
    for index, gate in enumerate(listed if isinstance(listed, list) else []):
        name = text_at(gate, "message") if isinstance(gate, dict) else None
        if name is None or name in messages:
            continue
        messages[name] = read_markdown(name, ("gate", index, "message"), report)
        if settings is None or not messages[name]:
            continue
        try:
            check_template(messages[name], _EXTRA)
        except TemplateMistakeError as mistake:
            report.add(
                name, mistake.line, f"can't be filled: {mistake.why}", "See docs/protocols.md for what it may say."
            )
    return messages
