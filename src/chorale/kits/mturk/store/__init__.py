"""What Mechanical Turk's interface keeps: keys, HITs and their types, assignments, bonuses, qualifications."""
