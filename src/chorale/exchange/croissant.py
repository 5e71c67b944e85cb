"""Croissant 1.0 metadata (MLCommons) of a study's dataset, as JSON-LD."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorale import __version__

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
FILE_NAME = "croissant.json"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class DataField:
    name: str
    description: str
    kind: str
    """A type of schema.org: Text, Integer, Float, Boolean, Date."""
    is_nested: bool = False
    """Whether values are objects, for which Croissant has no type."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A written file, and the columns of its rows; an archive has no columns."""

    name: str
    encoding: str
    sha256: str
    size: int
    rows: int
    description: str
    fields: Sequence[DataField]

    @property
    def record_set(self) -> str:
        return self.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """The description of the data as a whole."""

    name: str
    description: str
    published: str | None
    """The day of the last answer, as YYYY-MM-DD."""
    licence: str | None = None
    url: str | None = None
    keywords: Sequence[str] = ()


def croissant(facts: DatasetFacts, files: Sequence[DataFile]) -> dict[str, Any]:
    """The metadata as an object to be written as JSON. Unknown properties are left out."""
    optional = {"datePublished": facts.published, "license": facts.licence, "url": facts.url}
    year = "" if facts.published is None else f", {facts.published[:4]}"
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": _NOT_IN_NAMES.sub("-", facts.name).strip("-") or "study",
        "alternateName": facts.name,
        "description": facts.description,
        **{name: value for name, value in optional.items() if value},
        "version": "1.0.0",
        "citeAs": f"{facts.name}. Collected with Chorale {__version__}{year}.",
        "keywords": list(facts.keywords),
        "creativeWorkStatus": f"made by Chorale {__version__}",
        "isLiveDataset": False,
        "distribution": [_file(file) for file in files],
        "recordSet": [_record_set(file) for file in files if file.fields],
    }


def _file(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "description": file.description,
        "contentUrl": file.name,
        "contentSize": f"{file.size} B",
        "encodingFormat": file.encoding,
        "sha256": file.sha256,
    }


def _record_set(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": file.record_set,
        "name": file.record_set,
        "description": f"{file.description} {file.rows:,} rows.",
        "field": [_field(file, field) for field in file.fields if not field.is_nested],
    }


def _field(file: DataFile, field: DataField) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{file.record_set}/{field.name}",
        "name": field.name,
        "description": field.description,
        "dataType": f"sc:{field.kind}",
        "source": {"fileObject": {"@id": file.name}, "extract": {"column": field.name}},
    }


# Copied from the specification of Croissant 1.0.
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet"),
            *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
            "transform",
        )
    },
}
