# The public names of `neurogym_core.players`; see `neurogym_core/__init__.pyi`.

# Declarations of a task:
from neurogym_core.tasks.view import TaskView as TaskView
from neurogym_core.trials.interface import Interface as Interface
from neurogym_core.trials.interface import Actions as Actions

# Build trials:
from neurogym_core.tasks.building import build_trials as build_trials
from neurogym_core.tasks.building import build_imposed as build_imposed
from neurogym_core.tasks.building import layout_of as layout_of

# Tables and how they are dealt:
from neurogym_core.trials.tables import Tables as Tables
from neurogym_core.trials.rendering import Steps as Steps
from neurogym_core.play.dealer import Dealer as Dealer
from neurogym_core.play.blocks import Block as Block
from neurogym_core.play.stepper import Stepper as Stepper
from neurogym_core.play.replay import TrialsOnce as TrialsOnce
from neurogym_core.play.replay import replay as replay
from neurogym_core.play.kernels import kernel_in_use as kernel_in_use

# Batches of a dataset:
from neurogym_core.play.dataset import Batch as Batch
from neurogym_core.play.dataset import Chunk as Chunk
from neurogym_core.play.dataset import Part as Part
from neurogym_core.play.dataset import Placed as Placed

# Noise and splits:
from neurogym_core.trials.noise import noise_key as noise_key
from neurogym_core.trials.noise import noise_table as noise_table
from neurogym_core.trials.noise import KEY_BITS as KEY_BITS
from neurogym_core.trials.noise import SPLITS as SPLITS
from neurogym_core.trials.noise import checked_split as checked_split
from neurogym_core.trials.noise import sequence_of as sequence_of

# Envs and subjects:
from neurogym_core.play.make import resolve as resolve
from neurogym_core.play.make import EnvForm as EnvForm
from neurogym_core.ecosystem.settings_text import named_subject as named_subject
from neurogym_core.subjects import player_of as player_of
from neurogym_core.play.run import Game as Game

# Records:
from neurogym_core.trials.events import Events as Events
from neurogym_core.trials.record import PERIOD_COLUMNS as PERIOD_COLUMNS
from neurogym_core.trials.record import RECORD_NAMES as RECORD_NAMES
