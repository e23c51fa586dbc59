"""Measures how far the classifier's rules can be trusted: `make calibrate`."""
