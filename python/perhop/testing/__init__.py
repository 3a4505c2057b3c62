"""Tests of policies: files with runs and their assertions."""

from perhop.policy_tests import Test, read_tests
from perhop.testing.junit import junit
from perhop.testing.running import Outcome, code, run, to_json

__all__ = ["Outcome", "Test", "code", "junit", "read_tests", "run", "to_json"]
