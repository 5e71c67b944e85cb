"""May a model take a person's place? Judgments of people and of models on the same items, compared.

`closeness` measures how far a label is from people's labels of an item; `alternative` is the test, `planning` the
number of items it needs, `cross` the agreement of two groups beyond chance, `estimates` what can be said of all items
from many labels of a model and few of people.
"""
