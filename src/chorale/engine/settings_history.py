"""The history of settings: every version of the study file is in the activity log."""

import tomllib
from bisect import bisect_right

from pydantic import ValidationError

from chorale.model import StageSettings, StudySettings, UserError
from chorale.model.shared_options import with_shared_options
from chorale.store import Tx, events


class History:
    """All versions of the study file."""

    def __init__(self, tx: Tx) -> None:
        versions = list(reversed(events.recent(tx, 1_000_000, kinds=("settings",))))
        try:
            self._versions = [
                (
                    events.earliest_since(tx, event.id) if event is not versions[0] else event.at,
                    StudySettings.model_validate(with_shared_options(tomllib.loads(event.evidence["study.toml"]))),
                )
                for event in versions
            ]
        except ValidationError as error:
            raise UserError(
                "This version of Chorale can't read earlier settings of this study, so decisions made with them "
                f"can't be recomputed: {error.errors()[0]['msg']}."
            ) from None

    def study_at(self, moment: int) -> StudySettings:
        index = bisect_right(self._versions, moment, key=lambda version: version[0]) - 1
        return self._versions[max(index, 0)][1]

    def most_judgments(self, name: str) -> int:
        """The maximum number of judgments per item in any version of the stage."""
        stages = (stage for _, settings in self._versions for stage in settings.stage if stage.name == name)
        return max(
            max(stage.judgments.max, stage.judgments.sample.judgments if stage.judgments.sample else 0)
            for stage in stages
        )

    def stage_at(self, moment: int, name: str) -> StageSettings:
        return next(stage for stage in self.study_at(moment).stage if stage.name == name)
