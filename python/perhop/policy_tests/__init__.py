"""Files of tests of policies as data: read and checked, not run (`perhop.testing` runs them)."""

from perhop.policy_tests.definition import Test, read_tests

__all__ = ["Test", "read_tests"]
