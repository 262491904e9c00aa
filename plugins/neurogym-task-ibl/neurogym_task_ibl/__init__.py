"""The International Brain Laboratory's task: blocks, wheel, training and simpler versions."""
