"""A trained parser as a folder (`files/model_folders.py`)."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from chorale.files.model_folders import ModelKind, check_shapes, checked_sizes
from chorale.kits.qasrl.parser.batching import Vocabularies
from chorale.kits.qasrl.parser.inventory import QuestionInventory, QuestionShape
from chorale.kits.qasrl.parser.network import ParserNetwork, ParserShape
from chorale.kits.qasrl.parser.parsing import QasrlParser
from chorale.kits.qasrl.parser.vocabulary import HashedVocabulary
from chorale.model.extras import need

_KIND = ModelKind(
    "chorale QA-SRL parser",
    "a QA-SRL parser",
    "chorale train qasrl",
    "It finds the arguments of verbs in English sentences and asks a question about each. It was trained on verbs: on "
    "other words, such as nouns, its questions are mostly wrong. Check its output before you publish it.",
    {"encoder": dict, "shapes": list, "polarities": list, "prepositions": list},
    version=2,
)
_VOCABULARIES = ("vocabulary.words", "vocabulary.features")
_SCALES, _TOKENIZER = ".scales", "encoder.tokenizer"


def save_parser(parser: QasrlParser, folder: Path) -> None:
    """Saves the weights in half precision, and the largest tables in 8 bits."""
    state = {name: value.cpu().half().contiguous() for name, value in parser.network.state_dict().items()}
    for name, table in _large_tables(parser.network):
        weights = table.detach().cpu()
        scales = (weights.abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-8)
        state |= {name: torch.round(weights / scales).to(torch.int8), f"{name}{_SCALES}": scales}
    encoder = parser.network.encoder
    if encoder is not None:
        state[_TOKENIZER] = torch.frombuffer(bytearray(encoder.tokenizer_file), dtype=torch.uint8)
    state |= {
        name: torch.from_numpy(vocabulary.hashes)
        for name, vocabulary in zip(_VOCABULARIES, parser.vocabularies, strict=True)
    }
    about = {
        "signature": parser.signature,
        "shape": asdict(parser.network.shape),
        "encoder": encoder.config if encoder is not None else {},
        "training": dict(parser.training),
        "shapes": [list(shape) for shape in parser.inventory.shapes],
        "polarities": [list(polarity) for polarity in parser.inventory.polarities],
        "prepositions": list(parser.inventory.prepositions),
    }
    _KIND.write(folder, save(state, metadata={"signature": parser.signature}), about)


def load_parser(folder: Path) -> QasrlParser:
    """Loads a saved parser from a folder."""
    about, weights = _KIND.read(folder)
    try:
        state = load(weights)
        words, features = (HashedVocabulary(state.pop(name).numpy()) for name in _VOCABULARIES)
        inventory = QuestionInventory(
            tuple(QuestionShape(*shape) for shape in about["shapes"]),
            tuple((str(tense), bool(a), bool(b), bool(c)) for tense, a, b, c in about["polarities"]),
            tuple(map(str, about["prepositions"])),
        )
        shape = ParserShape(**checked_sizes(about["shape"], ParserShape()))
        tokenizer = state.pop(_TOKENIZER) if about["encoder"] else None

        def make() -> ParserNetwork:
            encoder = None if tokenizer is None else _encoder(about["encoder"], tokenizer)
            return ParserNetwork(inventory, (len(words), len(features)), shape, encoder)

        with torch.device("meta"):
            check_shapes(make().state_dict(), state)
        network = make()
        for name, _ in _large_tables(network):
            state[name] = state[name].float() * state.pop(f"{name}{_SCALES}")
        network.load_state_dict({name: value.float() for name, value in state.items()})
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError) as error:
        raise _KIND.does_not_fit(folder, error) from None
    network.eval()
    return QasrlParser(network, Vocabularies(words, features), inventory, str(about["signature"]), about["training"])


def _large_tables(network: ParserNetwork) -> list[tuple[str, Any]]:
    """The feature weights and the word vectors of the encoder, with their names."""
    tables = [("feature.weight", network.feature.weight)]
    if network.encoder is not None:
        vectors = network.encoder.model.get_input_embeddings().weight
        tables += [(name, value) for name, value in network.named_parameters() if value is vectors]
    return tables


def _encoder(config: dict[str, Any], tokenizer: Any) -> Any:
    need("transformers", "tokenizers")
    from chorale.kits.qasrl.parser.encoder import PretrainedEncoder  # noqa: PLC0415 - needs transformers

    return PretrainedEncoder(config, tokenizer.numpy().tobytes())
