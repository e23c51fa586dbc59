"""Builders, fakes and clients of the local stack for the tests of every folder."""
