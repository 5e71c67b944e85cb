"""Compares judgments of people and models on the same items: may a model replace a person?

`closeness` measures the distance of a label to people's labels of an item; `alternative` is the test, `planning` the
number of items it needs, `cross` the chance-corrected agreement of two groups, and `estimates` combines many labels of
a model with few of people.
"""
