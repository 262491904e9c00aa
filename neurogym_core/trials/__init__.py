"""What a trial is: distributions, channels and actions, the verbs, the table, the record. NumPy
only.
"""
