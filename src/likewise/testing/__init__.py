"""Conformance suites that any similarity, space or storage can be run through, those of users included."""
