"""Former names of public functions, which work for one more minor version."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def former_name(name: str, function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that issues a `DeprecationWarning` and calls `function`.

    Args:
        name: the former name, as callers write it, for example `Seen.of`.
        function: the function under its new name.

    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        message = f"{name} will be removed in the next minor version; use {function.__qualname__}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return function(*args, **kwargs)

    return call
