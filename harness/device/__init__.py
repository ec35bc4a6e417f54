"""The talk with a running firmware: frames, commands, what its words and faults mean, the serial log.

Knows neither probes nor flash nor chip families. Imported by bench, measure and session.
"""
