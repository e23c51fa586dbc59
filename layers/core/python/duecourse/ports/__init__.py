"""Interfaces that the use cases depend on, with the guarantees they rely on.

Domain types are imported for type checking only, which keeps cold starts short.
"""
