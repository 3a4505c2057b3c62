"""A live view of the run in this process, as a page on loopback.

`hub` stores the events for pages and discards old events; `server` sends events to clients that have the
link; `page` is the page; the other modules create the events of each kind of run.
"""
