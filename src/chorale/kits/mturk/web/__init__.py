"""Mechanical Turk on this site: the requesters' interface, and the workers' pages."""

from chorale.kits.mturk.web.endpoint import add_endpoint
from chorale.kits.mturk.web.pages import add_hit_pages

__all__ = ["add_endpoint", "add_hit_pages"]
