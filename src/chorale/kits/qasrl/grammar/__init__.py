"""The grammar of QA-SRL questions: seven slots, one state machine per verb."""

from chorale.kits.qasrl.grammar.completing import Completion, Context, complete, questions_alike, suggest
from chorale.kits.qasrl.grammar.machine import Machine, machine, parse
from chorale.kits.qasrl.grammar.slots import NotAQuestion, Parsed, Slots, render
from chorale.kits.qasrl.grammar.table import BROWSER_MODULES, SLOTS, prepositions, table

__all__ = [
    "BROWSER_MODULES",
    "SLOTS",
    "Completion",
    "Context",
    "Machine",
    "NotAQuestion",
    "Parsed",
    "Slots",
    "complete",
    "machine",
    "parse",
    "prepositions",
    "questions_alike",
    "render",
    "suggest",
    "table",
]
