"""Chorale: controlled crowdsourcing studies about meaning."""

__version__ = "0.1.0"
