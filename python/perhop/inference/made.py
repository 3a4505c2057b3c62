"""Added interfaces for unattached policies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from perhop import _core
from perhop.configuration import refused_option
from perhop.core_types import MadeInterface
from perhop.errors import InvalidInputError
from perhop.quantity import quantity

if TYPE_CHECKING:
    from perhop.schema_types import RouterConfiguration


def made_for(text: str, configuration: RouterConfiguration, rate: str, policy: str | None) -> MadeInterface:
    """Return an interface of `rate` with the outermost policy of a configuration, or with `policy`.

    Raises:
        InvalidInputError: the rate is invalid, or the policy is ambiguous.

    """
    require_rate(rate)
    try:
        made = _core.interface_for(text, json.dumps(dict(configuration)), rate, policy)
    except ValueError as error:
        raise refused_option(error) from error
    found: MadeInterface = json.loads(made)
    return found


def require_rate(rate: str) -> None:
    """Raise `InvalidInputError` if the text is not a rate."""
    if (quantity(rate) or (0, ""))[1] != "b/s":
        raise InvalidInputError(f"--rate: `{rate}` is not a rate", "for example --rate 50Mb/s")
