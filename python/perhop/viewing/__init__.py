"""A live view of whatever runs in this process, as a page on loopback.

`hub` holds what pages are told, and forgets rather than grows; `server` serves it to whoever has the link;
`page` is the page; the other modules say what there is to see.
"""
