"""Healthy networks of IOS routers, and the faults and harmless changes to plant in them."""
