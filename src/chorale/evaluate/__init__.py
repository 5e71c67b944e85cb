"""Measures against a gold standard: one family a module or package. Statistics per item, then scores from their sum."""
