"""The pictures of a page: each distinct one stands in it once, and is shown wherever it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perhop.draw.svg import ARROW, STYLE, Picture

if TYPE_CHECKING:
    from markupsafe import Markup


class Pictures:
    """The pictures that a page has shown so far.

    The cases of a study differ in a number or two. Most of their pictures are the same, and would fill the
    page; references that are followed at once would still delay its opening: the script follows each when it
    comes into view.
    """

    #: What all pictures of a page have in common.
    style = STYLE
    arrow = ARROW

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, picture: Picture) -> Markup:
        """Return a picture as HTML: in full where it is new, else with the name of the first like it."""
        from markupsafe import Markup

        name = self._names.get(picture.content)
        if name is not None:
            return Markup(f'<svg {picture.frame} data-like="{name}"></svg>')
        name = self._names[picture.content] = f"picture-{len(self._names) + 1}"
        # A class of its own: what is around it here is not around it where it is shown again.
        return Markup(f'<svg {picture.frame}><g id="{name}" class="pd">{picture.content}</g></svg>')
