"""Files, and what is in them: TOML, typed fields, locks, a cache of folders. Nothing here knows microcontrollers.

Imported by everything but domain and errors.
"""
