"""Mechanical Turk's requester interface, version 2017-01-17: signatures, requests, errors, questions and answers.

Nothing here knows of a study. What the operations do is in `chorale.kits.mturk.market`.
"""
