"""What becomes of estimates and measurements: reconciled, tuned, checked, kept as JSON, written as a header.

Imported by session, runs, sweep, cluster, report and cli.
"""
