"""What is true of one chip family: unit id, boot texts, fault registers, addresses. Plug-ins, one per family.

A family's name is that of its firmware port. Loaded by plugins.py alone; whoever needs one is given it.
"""
