"""A Hugging Face model in a local folder, with sequential requests."""

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Any

from chorale.model import ModelSettings, UserError
from chorale.model.extras import need
from chorale.platforms.models.exchange import CallOutcome, ModelRequest, Reply


class LocalModel:
    """A local model, loaded at the first request. Needs the extra `models`."""

    def __init__(self, settings: ModelSettings, folder: Path) -> None:
        need("torch", "transformers")
        if not (folder / "config.json").is_file():
            raise UserError(
                f"{folder} has no config.json: it is not the folder of a Hugging Face model. Correct `folder` of "
                f"model {settings.name}."
            )
        self._settings = settings
        self._folder = folder
        self._loaded: tuple[Any, Any] | None = None
        self._alone = asyncio.Lock()

    async def ask(self, asked: ModelRequest) -> Reply:
        async with self._alone:
            return await asyncio.to_thread(self._answer, asked)

    async def close(self) -> None:
        self._loaded = None

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415 - an extra

            tokenizer = AutoTokenizer.from_pretrained(self._folder, local_files_only=True)
            model = AutoModelForCausalLM.from_pretrained(self._folder, local_files_only=True)
            self._loaded = tokenizer, model.eval()
        return self._loaded

    def _answer(self, asked: ModelRequest) -> Reply:
        import torch  # noqa: PLC0415 - an extra

        begun = time.monotonic()
        tokenizer, model = self._load()
        prompt = _prompt(tokenizer, asked)
        given = tokenizer(prompt, return_tensors="pt")
        settings = self._settings
        if settings.seed is not None:
            torch.manual_seed(settings.seed + asked.number)
        generate = partial(model.generate, **given, max_new_tokens=settings.max_tokens, do_sample=False)
        if settings.temperature:
            generate = partial(
                model.generate,
                **given,
                max_new_tokens=settings.max_tokens,
                do_sample=True,
                temperature=settings.temperature,
            )
        scores = settings.confidence == "logprobs"
        with torch.no_grad():
            made = generate(
                return_dict_in_generate=True,
                output_scores=scores,
                pad_token_id=tokenizer.pad_token_id or tokenizer.eos_token_id or 0,
            )
        before = int(given["input_ids"].shape[1])
        tokens = made.sequences[0, before:]
        text = tokenizer.decode(tokens, skip_special_tokens=True)
        sure = None
        if scores:
            steps = model.compute_transition_scores(made.sequences, made.scores, normalize_logits=True)
            sure = min(1.0, float(torch.exp(steps[0].sum())))
        cut = len(tokens) >= settings.max_tokens
        outcome = CallOutcome.CUT if cut else CallOutcome.ANSWER if text.strip() else CallOutcome.EMPTY
        took = round((time.monotonic() - begun) * 1000)
        name = f"{self._folder.name} ({getattr(model.config, 'model_type', 'model')})"
        return Reply(outcome, text, name, before, len(tokens), took, confidence=sure)


def _prompt(tokenizer: Any, asked: ModelRequest) -> str:
    """The messages in the model's own chat template, or as plain text if it has none."""
    messages = [{"role": "system", "content": asked.system}]
    messages += [{"role": one.role, "content": one.text} for one in asked.messages]
    if getattr(tokenizer, "chat_template", None):
        return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    return "\n\n".join(one["content"] for one in messages) + "\n\n"
