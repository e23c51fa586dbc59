"""Values for tests, by subject."""
