"""A trained parser as a folder (`files/model_folders.py`)."""

from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from chorale.files.model_folders import ModelKind, checked_sizes
from chorale.kits.qasrl.parser.batching import Vocabularies
from chorale.kits.qasrl.parser.inventory import QuestionInventory, Shape
from chorale.kits.qasrl.parser.network import ParserNetwork, ParserShape
from chorale.kits.qasrl.parser.parsing import QasrlParser
from chorale.kits.qasrl.parser.vocabulary import HashedVocabulary

_KIND = ModelKind(
    "chorale QA-SRL parser",
    "a QA-SRL parser",
    "Train it again with `chorale train qasrl`",
    {"shapes": list, "polarities": list, "prepositions": list},
)
_VOCABULARIES = ("vocabulary.words", "vocabulary.features")


def save_parser(parser: QasrlParser, folder: Path) -> None:
    """The weights are written in half precision."""
    state = {name: value.cpu().half().contiguous() for name, value in parser.network.state_dict().items()}
    state |= {
        name: torch.from_numpy(vocabulary.hashes)
        for name, vocabulary in zip(_VOCABULARIES, parser.vocabularies, strict=True)
    }
    about = {
        "signature": parser.signature,
        "shape": asdict(parser.network.shape),
        "training": dict(parser.training),
        "shapes": [list(shape) for shape in parser.inventory.shapes],
        "polarities": [list(polarity) for polarity in parser.inventory.polarities],
        "prepositions": list(parser.inventory.prepositions),
    }
    _KIND.write(folder, save(state, metadata={"signature": parser.signature}), about)


def load_parser(folder: Path) -> QasrlParser:
    """The parser of a folder, as it was saved."""
    about, weights = _KIND.read(folder)
    try:
        state = load(weights)
        words, features = (HashedVocabulary(state.pop(name).numpy()) for name in _VOCABULARIES)
        inventory = QuestionInventory(
            tuple(Shape(*shape) for shape in about["shapes"]),
            tuple((str(tense), bool(a), bool(b), bool(c)) for tense, a, b, c in about["polarities"]),
            tuple(map(str, about["prepositions"])),
        )
        shape = ParserShape(**checked_sizes(about["shape"], ParserShape()))
        network = ParserNetwork(inventory, (len(words), len(features)), shape)
        network.load_state_dict({name: value.float() for name, value in state.items()})
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError) as error:
        raise _KIND.does_not_fit(folder, error) from None
    network.eval()
    return QasrlParser(network, Vocabularies(words, features), inventory, str(about["signature"]), about["training"])
