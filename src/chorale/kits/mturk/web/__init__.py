"""Mechanical Turk on a study's site."""
