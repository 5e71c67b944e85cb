"""Settings of models that annotate. Descriptions are the documentation (docs/settings.md)."""

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from chorale.model.setting_types import Fraction, Name, RelativePath, Settings

ModelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
TokenPrice = Annotated[float, Field(ge=0, le=1_000_000)]
_SOURCES = ("endpoint", "folder", "command", "answers")
PRICE_UNIT = 1_000
"""Prices have up to three decimals: in thousandths of a minor unit, they are whole numbers."""


class ModelSettings(Settings):
    name: ModelName = Field(description="Name of the model in this study, used in commands, exports and the report.")
    endpoint: str | None = Field(
        default=None,
        pattern=r"^https?://\S+$",
        max_length=400,
        description="Base URL of the server that runs the model, such as `http://localhost:11434/v1`.",
    )
    protocol: Literal["openai", "anthropic"] = Field(
        default="openai",
        description="API of the server: OpenAI's chat completions (also vLLM, Ollama and most others), or "
        "Anthropic's messages.",
    )
    folder: str | None = Field(
        default=None,
        min_length=1,
        max_length=400,
        description="Folder of a Hugging Face model to run on this computer. This needs the optional dependencies "
        "`models`: in a clone of Chorale, `pip install '.[models]'`.",
    )
    command: tuple[str, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=50,
        description="Your own program and its arguments. It reads one JSON object per line and writes one per line.",
    )
    answers: RelativePath | None = Field(
        default=None,
        description="JSONL file with recorded answers to replay, such as the export `calls` of another run.",
    )
    model: str | None = Field(
        default=None, min_length=1, max_length=200, description="The model's name on the server. Default: `name`."
    )
    key: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        description="Name of the environment variable with the API key. The key itself is never in the file.",
    )
    temperature: float | None = Field(
        default=0,
        ge=0,
        le=2,
        description='Sampling temperature. With `confidence = "samples"`, use a temperature above 0.',
    )
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1, description="Random seed, for servers that accept one.")
    max_tokens: int = Field(default=1024, ge=1, le=200_000, description="Maximum number of tokens in an answer.")
    limit_name: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens",
        description="Name of the server's parameter for the limit `max_tokens`. Some of OpenAI's models accept only "
        "`max_completion_tokens`.",
    )
    max_prompt_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of tokens in a prompt, estimated as a quarter of its characters. Items with "
        "longer prompts are skipped. Default: no limit.",
    )
    input_price: TokenPrice = Field(
        default=0, description="Price of a million prompt tokens in minor units (cents), up to three decimals."
    )
    output_price: TokenPrice = Field(
        default=0, description="Price of a million answer tokens in minor units (cents), up to three decimals."
    )
    at_once: int = Field(default=8, ge=1, le=256, description="Maximum number of concurrent requests.")
    timeout_seconds: float = Field(default=120, gt=0, le=3600, description="Number of seconds to wait for an answer.")
    tries: int = Field(
        default=5,
        ge=1,
        le=20,
        description="Maximum number of attempts for a request that meets a rate limit or a server error.",
    )
    structured: bool = Field(
        default=True,
        description="Whether to request JSON that follows the answer's schema. If the server does not support such "
        "requests, write `false`: answers are then parsed from text.",
    )
    examples: int = Field(
        default=5,
        ge=0,
        le=200,
        description="Maximum number of training items to include in the prompt as examples, with their explanations.",
    )
    confidence: Literal["none", "logprobs", "samples", "stated"] = Field(
        default="none",
        description="Where the model's confidence comes from: `logprobs` (token probabilities), `samples` (how often "
        "repeated samples agree), `stated` (the model is asked for it).",
    )
    samples: int = Field(
        default=5, ge=2, le=50, description='With `confidence = "samples"`: number of answers to sample for each item.'
    )

    @model_validator(mode="after")
    def _one_source(self) -> "ModelSettings":
        given = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("needs exactly one of `endpoint`, `folder`, `command` and `answers`. Set one of them.")
        if self.key is not None and self.endpoint is None:
            raise ValueError("has a `key`, which only an `endpoint` needs. Remove it.")
        return self

    @field_validator("endpoint")
    @classmethod
    def _holds_no_key(cls, value: str | None) -> str | None:
        if value is not None and "@" in value.partition("://")[2].partition("/")[0]:
            raise ValueError("has a user name or password in it. Name an environment variable with `key` instead.")
        return None if value is None else value.rstrip("/")

    @field_validator("input_price", "output_price")
    @classmethod
    def _is_whole_thousandths(cls, value: float) -> float:
        # Calls are summed exactly, which needs whole thousandths.
        if round(value, 3) != value:
            raise ValueError("has more than three decimals. Round it to three.")
        return value

    @property
    def prices(self) -> tuple[int, int]:
        """The prices of a million prompt tokens and answer tokens, in thousandths of a minor unit."""
        return round(self.input_price * PRICE_UNIT), round(self.output_price * PRICE_UNIT)

    @property
    def asked_for(self) -> str:
        """The model's name on the server."""
        return self.model or self.name

    @property
    def calls_per_item(self) -> int:
        return self.samples if self.confidence == "samples" else 1

    def price(self, input_tokens: int, output_tokens: int) -> int:
        """The exact price of a number of tokens, in billionths of a minor unit."""
        per_input, per_output = self.prices
        return input_tokens * per_input + output_tokens * per_output


class StageModels(Settings):
    use: tuple[ModelName, ...] = Field(
        default=(), description="Names of the models that annotate in this stage. Default: all models."
    )
    role: Literal["beside", "worker", "first", "suggest"] = Field(
        default="beside",
        description="How the models' answers are used. `beside`: stored separately, and never part of a label. "
        "`worker`: counted like a worker's answers. `first`: used as the labels of items that people do not "
        "annotate. `suggest`: shown to workers, who correct them.",
    )
    below: Fraction = Field(
        default=0.9,
        description='With `role = "first"`: people annotate an item if the calibrated confidence of the model is '
        "below this value.",
    )
    audit: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description='With `role = "first"`: fraction of the items with a confidence of at least `below` to sample '
        "at random. People also annotate this sample, so that the model's errors can be estimated.",
    )
    expected: Fraction | None = Field(
        default=None,
        description='With `role = "first"`: expected fraction of items with a confidence under `below`. `chorale '
        "check` uses this fraction to estimate the cost until the model has annotated items in the study. From then "
        "on, `chorale check` uses the measured fraction. Default: 1.",
    )
    arms: tuple[Name, ...] = Field(
        default=(),
        description='With `role = "suggest"`: the arms whose workers see suggestions. Default: all workers.',
    )
    wrong: float = Field(
        default=0,
        ge=0,
        le=0.5,
        description='With `role = "suggest"`: fraction of gold items that get a wrong suggestion on purpose, to '
        "measure how often workers follow it. Needs `disclosure`.",
    )
    disclosure: str | None = Field(
        default=None,
        min_length=10,
        max_length=1000,
        description="Sentence that the consent form must contain. It discloses that some suggestions are wrong on "
        "purpose.",
    )
    run: bool = Field(default=False, description="Whether the models also annotate while `chorale serve` runs.")
