"""What the use cases need from outside, with the guarantees they rely on.

Types of the domain are named here, not loaded: a function that starts cold loads those it needs.
"""
