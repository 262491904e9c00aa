"""The International Brain Laboratory's task: in blocks, with a wheel, in training, and in simpler
forms.
"""
