# The public names: type checkers, `neurogym_core.__all__` and docs/_make/api.py read them here.
# A comment that ends with a colon is a heading of the page.

# Play a task:
from neurogym_core.play.make import make as make
from neurogym_core.play.make import make_vec as make_vec
from neurogym_core.play.make import make_task as make_task
from neurogym_core.play.run import run as run
from neurogym_core.play.env import TaskEnv as TaskEnv
from neurogym_core.play.vector_env import TaskVectorEnv as TaskVectorEnv
from neurogym_core.play.dataset import Dataset as Dataset
from neurogym_core.subjects import Subject as Subject

# Records:
from neurogym_core.trials.record import TrialRecord as TrialRecord
from neurogym_core.trials.record import Outcome as Outcome

# Write a task:
from neurogym_core.tasks.task import Task as Task
from neurogym_core.trials.builder import TrialBuilder as TrialBuilder
from neurogym_core.trials.sequence import Items as Items
from neurogym_core.trials.batch import TrialBatch as TrialBatch
from neurogym_core.tasks.session import Session as Session
from neurogym_core.trials.layout import STAY as STAY
from neurogym_core.trials.layout import END as END

# Observations, actions and rewards:
from neurogym_core.trials.encoders import Encoder as Encoder
from neurogym_core.trials.encoders import Scalar as Scalar
from neurogym_core.trials.encoders import OneHot as OneHot
from neurogym_core.trials.encoders import Ring as Ring
from neurogym_core.trials.encoders import circular_distance as circular_distance
from neurogym_core.trials.interface import Angle as Angle
from neurogym_core.trials.interface import Axis as Axis
from neurogym_core.trials.graded_rewards import PowerLaw as PowerLaw
from neurogym_core.trials.graded_rewards import InverseSquare as InverseSquare

# Distributions:
from neurogym_core.trials.distributions import Distribution as Distribution
from neurogym_core.trials.distributions import Constant as Constant
from neurogym_core.trials.distributions import Uniform as Uniform
from neurogym_core.trials.distributions import Choice as Choice
from neurogym_core.trials.distributions import TruncatedExponential as TruncatedExponential
from neurogym_core.trials.distributions import parse as parse

# Wrap a task:
from neurogym_core.tasks.wrapper import TaskWrapper as TaskWrapper
from neurogym_core.trials.layout import Layout as Layout
from neurogym_core.trials.layout import Timeline as Timeline
from neurogym_core.trials.layout import Span as Span
from neurogym_core.trials.layout import Show as Show
from neurogym_core.trials.layout import Frames as Frames
from neurogym_core.trials.layout import Hold as Hold
from neurogym_core.trials.layout import Charge as Charge
from neurogym_core.trials.layout import Slot as Slot
from neurogym_core.trials.layout import Weigh as Weigh

# Wrappers of the core:
from neurogym_core.wrappers.reaction_time import ReactionTime as ReactionTime
from neurogym_core.wrappers.noise import Noise as Noise
from neurogym_core.wrappers.pass_wrappers import PassAction as PassAction
from neurogym_core.wrappers.pass_wrappers import PassReward as PassReward
from neurogym_core.wrappers.record_trials import RecordTrials as RecordTrials

# Extend:
from neurogym_core.ecosystem.hooks import hookimpl as hookimpl

# Errors:
from neurogym_core.errors import NeurogymError as NeurogymError
from neurogym_core.errors import UnknownNameError as UnknownNameError
from neurogym_core.errors import InvalidValueError as InvalidValueError
from neurogym_core.errors import TaskDefinitionError as TaskDefinitionError
from neurogym_core.errors import TrialLayoutError as TrialLayoutError
from neurogym_core.errors import NotSupportedError as NotSupportedError
from neurogym_core.errors import MissingDependencyError as MissingDependencyError
from neurogym_core.errors import DiscoveryError as DiscoveryError
from neurogym_core.errors import UnknownTaskError as UnknownTaskError

__version__: str
