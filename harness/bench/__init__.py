"""The bench: boards, units and what is flashed into them.

Board files, the user's bench file and its scan, units by their chip's id, what flash holds, and the connection to one
unit. Imported by session, runs, sweep, cluster and cli.
"""
