"""The pictures of a page: each distinct picture is stored once and shown in all its places."""

from __future__ import annotations

from markupsafe import Markup

from perhop.draw.svg import ARROW, STYLE, Picture


class Pictures:
    """The pictures that a page has shown so far.

    The cases of a study differ in one or two numbers, so most of their pictures are equal and would fill the
    page. Resolving all references at once would delay the page, so the script resolves each reference when
    its place scrolls into view.
    """

    #: Style and arrow head shared by all pictures of a page.
    style = STYLE
    arrow = ARROW

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, picture: Picture) -> Markup:
        """Return a picture as HTML: complete on first use, later as a reference to the first."""
        name = self._names.get(picture.content)
        if name is not None:
            return Markup(f'<svg {picture.frame} data-like="{name}"></svg>')
        name = self._names[picture.content] = f"picture-{len(self._names) + 1}"
        # The picture has its own class, because the elements around its repetitions differ.
        return Markup(f'<svg {picture.frame}><g id="{name}" class="pd">{picture.content}</g></svg>')
