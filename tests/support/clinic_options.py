"""Options that pose a problem about the patients of the command line's tests."""

OUTCOME = ("--outcome", "fate", "--exclude", "visit")
POSED = ("patients.csv", *OUTCOME, "--ridge", "1")
PRICED = (*POSED, "--costs", "costs.csv", "--fees", "fees.csv")
