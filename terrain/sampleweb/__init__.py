"""A web of many hosts on loopback, with real TLS, that behaves and misbehaves on request.

The black-box tests, the demo and the fault tests are built on it. A web is plain data
(`web.py`, `behaviours.py`, `pages.py`), turned into bytes by `answers.py` and served by
`server.py`, in this process or in one of its own (`process.py`). Every request is logged
(`log.py`).
"""
