"""Systems to compare with: frame classifiers, readers of multiple-choice questions."""
