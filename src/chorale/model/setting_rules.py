"""Rules for changes of study.toml after people have started, setting by setting.

Opening and checking a study enforce these rules, and docs/settings.md lists them.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, TypeAdapter


class When(StrEnum):
    """When a setting may change."""

    ANY_TIME = "at any time"
    FIRST_WORKER = "until the first worker starts"
    FIRST_IN_STAGE = "until somebody starts the stage"
    FIRST_ARM = "until somebody is in an arm"
    FIRST_VERDICT = "until the gate decides about somebody"
    FIRST_ENTRY = "until the first ledger entry"
    SAME_CONTENT = "if compatible with the stored data"
    """Depends on what was shown and answered, row by row (engine/opening.py)."""


class SettingRule(NamedTuple):
    when: When
    effect: str
    """The effect of a change on existing people and work."""
    settings: tuple[str, ...]


def _rule(when: When, effect: str, settings: str) -> SettingRule:
    return SettingRule(when, effect, tuple(settings.split()))


GROUPED = (
    _rule(
        When.ANY_TIME,
        "Workers see the change after the next start of the site. The activity log keeps every earlier text.",
        "study study.title study.contact study.consent study.language stage.title stage.guidelines",
    ),
    _rule(When.SAME_CONTENT, "This version of Chorale supports only format 1.", "format"),
    _rule(
        When.FIRST_WORKER,
        "Refused after that: the seed determines item order and samples.",
        "study.seed",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to people who join or finish after the change. If you change the recruitment platform, links of "
        "the earlier platform no longer work.",
        """arrival arrival.by_url arrival.landing arrival.panel arrival.worker_parameter arrival.study_parameter
        arrival.session_parameter arrival.worker_pattern arrival.study_id arrival.completion_url arrival.finish_after
        arrival.completion_code arrival.screenout_code arrival.screenout_url
        arrival.signed arrival.signing_keys arrival.workspace""",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to e-mail sent after the change.",
        "mail mail.host mail.port mail.security mail.username mail.sender mail.results mail.invitation",
    ),
    _rule(
        When.ANY_TIME,
        "Takes effect within a day. Erased data cannot be restored.",
        "retention retention.identities_days retention.answers_days retention.withdrawn_answers",
    ),
    _rule(
        When.ANY_TIME,
        "Applies from the next sync with Prolific. Studies published on Prolific do not change until you publish them "
        "again.",
        """prolific prolific.project prolific.approve prolific.sync_minutes prolific.webhooks prolific.study
        prolific.study.name prolific.study.title prolific.study.description prolific.study.stages prolific.study.places
        prolific.study.minutes prolific.study.maximum_minutes prolific.study.reward prolific.study.invite
        prolific.study.follows prolific.study.allow_groups prolific.study.block_groups prolific.study.completion_code
        prolific.study.screenout_code prolific.study.screenout prolific.study.screenout_reward
        prolific.study.screenout_slots prolific.study.submissions_per_person prolific.study.at_once
        prolific.study.label prolific.study.content_warning prolific.study.content_warning_details
        prolific.study.devices prolific.study.filters prolific.study.filter_set prolific.study.filter_set_version""",
    ),
    _rule(
        When.FIRST_ENTRY,
        "Refused after that: the amounts in the ledger are in the earlier currency.",
        "pay.currency",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to future earnings; existing ledger entries do not change.",
        """pay pay.fee_percent stage.pay stage.pay.per_judgment stage.pay.by_length
        stage.pay.by_length.per_100_words stage.pay.by_length.most stage.pay.parts stage.pay.parts.beyond
        stage.pay.parts.amounts stage.pay.kept stage.pay.kept.beyond stage.pay.kept.amounts stage.pay.finished
        stage.pay.finished_from stage.gold.bonus stage.gold.bonus.right
        stage.gold.bonus.of stage.gold.bonus.amount""",
    ),
    _rule(
        When.ANY_TIME,
        "Affects warnings, cost estimates, the point at which assignment stops, and the payment methods that workers "
        "can choose. Assigned items and payments do not change.",
        """pay.minimum_hourly pay.budget pay.methods stage.pay.expected_parts stage.pay.expected_seconds gate.expected
        stage.models.expected""",
    ),
    _rule(
        When.FIRST_ARM,
        "Refused after that: everybody keeps their arm, and the arms stay comparable.",
        "arms arms.names arms.weights arms.blocks arms.after arms.stratify",
    ),
    _rule(
        When.FIRST_ARM,
        "Refused after that: an analysis chosen after data were collected is not a planned analysis.",
        """analysis analysis.primary analysis.primary.outcome analysis.primary.unit analysis.primary.test
        analysis.primary.against analysis.secondary analysis.registered""",
    ),
    _rule(
        When.SAME_CONTENT,
        "New stages are added. After the first worker has started any stage, removing or renaming a stage, or changing "
        "its task, is refused. A stage that has been paused can never be removed or renamed.",
        "stage stage.name stage.task",
    ),
    _rule(
        When.SAME_CONTENT,
        "New rows are added. After the first worker has started any stage, changed or missing rows are refused. "
        "Explanations of gold may change.",
        "stage.items.file stage.items.id stage.gold.file stage.round.file",
    ),
    _rule(
        When.ANY_TIME,
        "Applies after the next start of the site. People can finish their open items; existing answers are kept.",
        "stage.items.assigned",
    ),
    _rule(
        When.SAME_CONTENT,
        "After the first worker has started any stage, a change of the possible answers is refused.",
        "stage.options stage.options_from",
    ),
    _rule(
        When.SAME_CONTENT,
        "After the first worker has started any stage, a different number of items per person is refused: some people "
        "may have finished the round.",
        "stage.round.size",
    ),
    _rule(
        When.FIRST_IN_STAGE,
        "Refused after that: these settings decide which items the stage has, who gets them, and how its answers are "
        "used.",
        "stage.items stage.round stage.arms stage.grades stage.grades_sources stage.decides_sources",
    ),
    _rule(
        When.FIRST_WORKER,
        "Refused after that: derived items and samples must stay the same.",
        """stage.items.from stage.items.of stage.items.sample stage.items.below stage.items.where stage.items.per_worker
        stage.items.wait stage.judgments.sample stage.judgments.sample.share stage.judgments.sample.items
        stage.judgments.sample.judgments""",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to all existing annotations. As a result, items can be completed, reopened, added, withdrawn or "
        "restored.",
        """stage.items.confidence stage.judgments stage.judgments.min stage.judgments.max stage.judgments.until
        stage.judgments.stable stage.judgments.fields stage.release_confidence""",
    ),
    _rule(
        When.ANY_TIME,
        "Applies from each worker's next item. Existing answers and open items do not change.",
        """stage.entry stage.entry.qualifications stage.entry.qualified_in stage.entry.accuracy stage.entry.answered
        stage.entry.exclude_dropped stage.entry.exclude_contributors stage.lease_minutes stage.max_per_worker
        stage.gold.share stage.gold.reuse stage.gold.feedback stage.skips stage.skips.first stage.skips.share
        stage.round.feedback stage.round.over_admission""",
    ),
    _rule(
        When.ANY_TIME,
        "Applies from each worker's next gold answer. Removed workers stay removed.",
        "stage.gold.floor stage.gold.after stage.gold.window stage.gold.smoothing stage.gold.pass_score "
        "stage.gold.grace stage.round.pass_score",
    ),
    _rule(
        When.FIRST_IN_STAGE,
        "Refused after that: gold must check all workers of the stage in the same way.",
        "stage.gold stage.gold.unit",
    ),
    _rule(
        When.ANY_TIME,
        "Applies from the next measurement of worker quality. Removed workers stay removed.",
        "stage.quality stage.quality.floor stage.quality.after",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to adjudication after the next start of the site. Existing decisions are kept.",
        "stage.review_sample",
    ),
    _rule(
        When.ANY_TIME,
        "Alarms are recomputed for all answers. Only new answers can be refused.",
        """stage.sense stage.sense.min_seconds stage.sense.refuse stage.sense.same_answers stage.sense.same_text
        stage.sense.copied_words""",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to new answers. Workers must agree to the changed consent form before their next item.",
        "writing writing.disclosure",
    ),
    _rule(
        When.ANY_TIME,
        "Affects only simulated workers.",
        "stage.rehearsal stage.rehearsal.truth",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to new requests. Every request is stored with its model version, prompt hash and price.",
        """model model.name model.endpoint model.protocol model.folder model.command model.answers model.model model.key
        model.temperature model.seed model.limit_name model.max_tokens model.max_prompt_tokens model.input_price
        model.output_price model.at_once model.timeout_seconds model.tries model.structured model.examples
        model.confidence model.samples stage.models stage.models.use stage.models.run stage.models.disclosure""",
    ),
    _rule(
        When.FIRST_IN_STAGE,
        "Refused after that: a stage must use the answers of models in the same way from start to end.",
        "stage.models.role stage.models.arms",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to future decisions about items and to future suggestions. Existing decisions and suggestions do not "
        "change.",
        "stage.models.below stage.models.audit stage.models.wrong",
    ),
    _rule(
        When.FIRST_VERDICT,
        "Refused after that: with other settings, the gate would have decided about other people or at another time.",
        "gate.stage gate.decides",
    ),
    _rule(
        When.ANY_TIME,
        "Applies to future decisions. A new gate also decides about everybody who has finished its stages. Existing "
        "decisions are kept.",
        """gate gate.name gate.graded gate.threshold gate.top_share gate.top gate.floor gate.criteria gate.ties
        gate.promote gate.promote.to gate.promote.top_share gate.workers gate.bonus gate.message gate.review""",
    ),
)
"""All settings, grouped by the effect of a change. The name of a table means adding or removing it."""

RULES: Mapping[str, SettingRule] = {name: rule for rule in GROUPED for name in rule.settings}


class SettingChange(NamedTuple):
    setting: str
    """Its name in the rules, such as `stage.pay.per_judgment`."""
    of: tuple[str, ...]
    """The name of its stage, gate or study on Prolific."""
    before: Any
    after: Any

    @property
    def place(self) -> str:
        """The setting's place in the file, for messages."""
        return f"`{self.setting}`" + "".join(f" of {name!r}" for name in self.of)


def table_in(annotation: Any) -> type[BaseModel] | None:
    """The type of a setting's table, or of the tables in its list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := table_in(part))), None)


def is_list(annotation: Any) -> bool:
    kinds = (annotation, *get_args(annotation))
    return any(getattr(kind, "__origin__", None) in (list, tuple) for kind in kinds)


def _has_own_settings(inner: type[BaseModel] | None, annotation: Any) -> bool:
    """Whether its settings change separately. In a list, this needs names to identify the tables."""
    return inner is not None and (not is_list(annotation) or "name" in inner.model_fields)


def setting_names(table: type[BaseModel], path: str = "") -> Iterator[str]:
    """Every setting that needs a rule."""
    for name, field in table.model_fields.items():
        where = f"{path}{field.alias or name}"
        yield where
        inner = table_in(field.annotation)
        if inner is not None and _has_own_settings(inner, field.annotation):
            yield from setting_names(inner, f"{where}.")


def changed_settings(
    table: type[BaseModel],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    path: str = "",
    of: tuple[str, ...] = (),
) -> Iterator[SettingChange]:
    """The differences between two versions of settings as JSON, with all defaults.

    A setting missing from `before` was added by a newer version of Chorale; its default was in force.
    """
    for name, field in table.model_fields.items():
        key = field.alias or name
        where, now = f"{path}{key}", after.get(key)
        then = before[key] if key in before else _default(table, name)
        inner = table_in(field.annotation)
        if inner is None or not _has_own_settings(inner, field.annotation):
            if then != now:
                yield SettingChange(where, of, then, now)
        elif is_list(field.annotation):
            yield from _in_list(inner, then or [], now or [], where, of)
        elif then is None or now is None:
            if then is not now:
                yield SettingChange(where, of, then, now)
        else:
            yield from changed_settings(inner, then, now, f"{where}.", of)


def _in_list(
    inner: type[BaseModel], before: list[dict[str, Any]], after: list[dict[str, Any]], where: str, of: tuple[str, ...]
) -> Iterator[SettingChange]:
    then, now = ({str(one["name"]): one for one in tables} for tables in (before, after))
    for name in {**then, **now}:
        if name in then and name in now:
            yield from changed_settings(inner, then[name], now[name], f"{where}.", (*of, name))
        else:
            yield SettingChange(where, (*of, name), then.get(name), now.get(name))


def _default(table: type[BaseModel], name: str) -> Any:
    value = table.model_fields[name].get_default(call_default_factory=True)
    return TypeAdapter(Any).dump_python(value, mode="json", by_alias=True)
