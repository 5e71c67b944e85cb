"""Mechanical Turk on this site: the requesters' interface, and the workers' pages."""

from chorale.web.mturk.endpoint import add_endpoint
from chorale.web.mturk.pages import add_hit_pages

__all__ = ["add_endpoint", "add_hit_pages"]
