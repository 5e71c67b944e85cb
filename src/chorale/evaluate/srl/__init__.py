"""Scorers of semantic role labelling, one a file, over one model of what files hold."""

from chorale.evaluate.srl.conll05 import conll05
from chorale.evaluate.srl.conll09 import conll08, conll09
from chorale.evaluate.srl.errors import ERROR_COUNTS, Finding, findings
from chorale.evaluate.srl.names import Names
from chorale.evaluate.srl.outcome import Outcome, only_common
from chorale.evaluate.srl.primesrl import primesrl
from chorale.evaluate.srl.semeval07 import semeval07
from chorale.evaluate.srl.senseval import senseval3

__all__ = [
    "ERROR_COUNTS",
    "Finding",
    "Names",
    "Outcome",
    "conll05",
    "conll08",
    "conll09",
    "findings",
    "only_common",
    "primesrl",
    "semeval07",
    "senseval3",
]
