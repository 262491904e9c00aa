"""Language models as subjects of tasks: trials as text, answers, log-likelihoods of choices."""

from neurogym_llm.envs import TextEnv
from neurogym_llm.models import Cached, Local, Model, ModelError, Reply, Server
from neurogym_llm.subjects import Evaluated, LanguageModel
from neurogym_llm.text import Wording

__all__ = [
    "Cached",
    "Evaluated",
    "LanguageModel",
    "Local",
    "Model",
    "ModelError",
    "Reply",
    "Server",
    "TextEnv",
    "Wording",
]
