"""Simulated models that annotate, through the same functions as real ones, without a server."""

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random

from chorale.contract.prompting import UnreadableError
from chorale.contract.prompts import ModelAnswer, Prompter
from chorale.engine.entering import arrive_as_model
from chorale.engine.models.answering import Ended, complete_call, end_task, with_tokens
from chorale.engine.models.deciding_first import TooLittleGoldError, decide_some
from chorale.engine.models.stages import ModelStage, prompter_of, stages_of
from chorale.engine.models.taking import Place, PlannedWork, take
from chorale.engine.running import Study
from chorale.model import ModelSettings
from chorale.platforms.models import CallOutcome, ModelRequest, Reply
from chorale.platforms.models.exchange import ChatMessage
from chorale.platforms.models.recorded import RecordedModel
from chorale.rehearsal.simulated import AnswerSheet
from chorale.rehearsal.simulated.language_models import SimulatedModel, model_says
from chorale.store import Tx, calls, codec, model_tasks
from chorale.store.model_tasks import TaskState

AT_ONCE = 200
"""Number of items a model answers per transaction."""


class ModelsAtWork:
    """The models of a study, each in the stages where its answers matter to people or labels."""

    def __init__(
        self,
        study: Study,
        sheets: Mapping[str, AnswerSheet],
        expected: Sequence[SimulatedModel],
        recorded: Mapping[str, RecordedModel],
        seed: int,
    ) -> None:
        """`expected` describes the models; those with recorded answers replay them."""
        self._study = study
        self._recorded = recorded
        self._sheets = sheets
        self._seed = seed
        self._expected = {one.name: one for one in expected}
        self.matter = models_matter(study)
        """Whether any model does more than annotate separately."""
        self._places: dict[tuple[str, str], Place] = {}

    def annotate(self) -> bool:
        """Let every model answer its available items; returns whether there were any."""
        if not self.matter:
            return False
        done = 0
        for model in self._study.settings.model:
            for of in stages_of(self._study, model):
                if of.rule.role != "beside" or of.stage.round_size is not None:
                    done += self._annotate(model, of)
        return done > 0

    def _annotate(self, model: ModelSettings, of: ModelStage) -> int:
        study, store = self._study, self._study.store
        worker_id = store.do(lambda tx: arrive_as_model(tx, study, model.name)).id
        prompter = store.look(lambda tx: prompter_of(tx, study, of.stage, model))
        done = 0
        while count := store.do(lambda tx: self._some(tx, of, model, worker_id, prompter)):
            done += count
        if of.rule.role == "first" and of.stage.round_size is None:
            try:
                while count := store.do(lambda tx: decide_some(tx, study, of, worker_id)):
                    done += count
            except TooLittleGoldError:
                pass  # nothing goes to people: the forecast shows a stage that never finishes
        return done

    def _some(self, tx: Tx, of: ModelStage, model: ModelSettings, worker_id: int, prompter: Prompter) -> int:
        key = model.name, of.stage.name
        place = self._places.get(key) or Place(model_tasks.given(tx, of.stage.id, worker_id))
        taken = take(tx, self._study, of, model, worker_id, prompter, place, AT_ONCE)
        for work in taken.work:
            reply, ended = self._said(of, model, work, prompter)
            calls.mark_sent(tx, work.call_id, self._study.clock())
            complete_call(tx, self._study, of.stage, model, work.task, work.call_id, reply)
            end_task(tx, self._study, work.task, ended)
        # New items may have been added before the position that was reached.
        after = taken.after if taken.work else -1
        self._places[key] = Place(place.served + len(taken.work), after)
        return len(taken.work)

    def _said(self, of: ModelStage, model: ModelSettings, work: PlannedWork, prompter: Prompter) -> tuple[Reply, Ended]:
        """A model's answer to an item: recorded or simulated."""
        recorded = self._recorded.get(model.name)
        if recorded is not None:
            return _replayed(of, model, work, prompter, recorded)
        stage, item = of.stage, work.task.item
        expected = self._expected.get(model.name) or SimulatedModel(name=model.name)
        payload = codec.frozen_from_text(item.payload)
        view = stage.task.form.shown(payload)
        truth, choices = self._sheets[stage.name].prospects(item.payload, view)
        rng = Random(f"{self._seed}:model:{model.name}:{stage.name}:{item.key}")
        imitate = stage.task.simulating.imitate
        said = model_says(expected, truth, choices, rng, None if imitate is None else partial(imitate, view))
        answer = ModelAnswer(said.answer, stage.task.shape.parse_answer(said.answer, payload), said.confidence)
        reply = Reply(CallOutcome.ANSWER, "", "simulated", None, expected.output_tokens * model.calls_per_item)
        confidence = None if model.confidence == "none" else said.confidence
        length = _length(work) * model.calls_per_item
        return with_tokens(reply, length), Ended(TaskState.ANSWERED, answer, confidence)


def models_matter(study: Study) -> bool:
    """Whether any model of a study does more than annotate separately."""
    rules = [stage.settings.models for stage in study.stages.values() if stage.settings.models is not None]
    return any(rule.role != "beside" for rule in rules)


def _replayed(
    of: ModelStage, model: ModelSettings, work: PlannedWork, prompter: Prompter, recorded: RecordedModel
) -> tuple[Reply, Ended]:
    prompt, item = work.prompt, work.task.item
    messages = [ChatMessage("user", prompt.user)]
    asked = ModelRequest(prompt.system, messages, prompt.schema, of.stage.name, item.key, prompt.digest)
    reply = with_tokens(recorded.replay(asked), _length(work))
    if reply.outcome is not CallOutcome.ANSWER:
        return reply, Ended(TaskState.SKIPPED)
    try:
        answer = prompter.read(reply.output, of.stage.view_of(item.payload), codec.frozen_from_text(item.payload))
    except UnreadableError as error:
        return reply._replace(outcome=CallOutcome.UNPARSABLE, reason=str(error)), Ended(TaskState.SKIPPED)
    return reply, Ended(TaskState.ANSWERED, answer, answer.confidence if model.confidence == "stated" else None)


def _length(work: PlannedWork) -> int:
    return len(work.prompt.system) + len(work.prompt.user)
