"""What a user would pick instead: one adapter a file, each scored by our objective.

An adapter is a function from a problem and a time limit to an `Answer`. Whatever a peer says about
its own objective is dropped: `score` fits its support to the end and asks the problem.
"""
