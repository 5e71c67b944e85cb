"""The papers, under the names the command takes."""

from collections.abc import Mapping
from types import MappingProxyType

from chorale.reproduce import dumitrache2019, jindal2022, nangia2021, roit2020, zeichner2012
from chorale.reproduce.contract import Paper

PAPERS: Mapping[str, Paper] = MappingProxyType(
    {module.PAPER.name: module.PAPER for module in (dumitrache2019, jindal2022, nangia2021, roit2020, zeichner2012)}
)
