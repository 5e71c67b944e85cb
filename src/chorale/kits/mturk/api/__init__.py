"""Mechanical Turk's requester interface, version 2017-01-17: signatures, requests, errors, questions and answers.

Independent of any study. The operations are implemented in `chorale.kits.mturk.market`.
"""
