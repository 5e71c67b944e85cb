"""The papers, under the names the command takes."""

from collections.abc import Mapping
from types import MappingProxyType

from chorale.kits.frames import reproduction as dumitrache2019
from chorale.kits.qasrl import reproduction as roit2020
from chorale.kits.questions import reproduction as nangia2021
from chorale.kits.rules import reproduction as zeichner2012
from chorale.kits.srl import reproduction as jindal2022
from chorale.reproduce.contract import Paper

PAPERS: Mapping[str, Paper] = MappingProxyType(
    {module.PAPER.name: module.PAPER for module in (dumitrache2019, jindal2022, nangia2021, roit2020, zeichner2012)}
)
