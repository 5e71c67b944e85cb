"""A pretrained encoder from a local Hugging Face folder, fine-tuned with the parser. Its word vectors stay fixed."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoConfig, AutoModel

from chorale.files.source import read_bytes, refused

_FILES = CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
_FIX = "Use a folder that contains config.json, tokenizer.json and model.safetensors of an encoder such as BERT"


class PretrainedEncoder(nn.Module):
    """Computes a vector per token: the vector of its first subword."""

    def __init__(self, config: dict[str, Any], tokenizer: bytes) -> None:
        super().__init__()
        self.config, self.tokenizer_file = config, tokenizer
        self.model = AutoModel.from_config(AutoConfig.for_model(**config))
        self.width = int(self.model.config.hidden_size)
        self.longest = int(getattr(self.model.config, "max_position_embeddings", 512))
        self.tokenizer = Tokenizer.from_str(tokenizer.decode("utf-8"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.longest)
        self.model.get_input_embeddings().weight.requires_grad_(requires_grad=False)

    @classmethod
    def from_folder(cls, folder: Path) -> tuple[Self, str]:
        """Loads an encoder from a folder, with a digest of its files. No code from the folder is executed."""
        if not folder.is_dir():
            raise refused(folder, None, "is not a folder", _FIX)
        content = {name: read_bytes(folder / name) for name in _FILES}
        try:
            config = json.loads(content[CONFIG])
            encoder = cls(config, content[TOKENIZER])
            encoder.model = AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, trust_remote_code=False, dtype=torch.float32
            )
            encoder.model.get_input_embeddings().weight.requires_grad_(requires_grad=False)
        except Exception as error:
            raise refused(folder, None, "cannot be loaded as an encoder", _FIX, str(error)[:200]) from None
        return encoder, sha256(b"".join(sha256(content[name]).digest() for name in _FILES)).hexdigest()[:8]

    def forward(self, sentences: Sequence[Sequence[str]]) -> Any:
        """Vectors of all tokens of all sentences, concatenated. A token without subwords gets the vector at the
        first position of the sentence.
        """
        at = self.model.get_input_embeddings().weight.device
        encoded = self.tokenizer.encode_batch([list(tokens) for tokens in sentences], is_pretokenized=True)
        width = max(len(one.ids) for one in encoded)
        ids, mask, first = [], [], []
        for row, (encoding, tokens) in enumerate(zip(encoded, sentences, strict=True)):
            ids.append(encoding.ids + [0] * (width - len(encoding.ids)))
            mask.append([1] * len(encoding.ids) + [0] * (width - len(encoding.ids)))
            places: dict[int, int] = {}
            for place, word in enumerate(encoding.word_ids):
                if word is not None:
                    places.setdefault(word, place)
            first += [row * width + places.get(word, 0) for word in range(len(tokens))]
        states = self.model(
            input_ids=torch.tensor(ids, device=at), attention_mask=torch.tensor(mask, device=at)
        ).last_hidden_state
        return states.flatten(0, 1)[torch.tensor(first, device=at)]
