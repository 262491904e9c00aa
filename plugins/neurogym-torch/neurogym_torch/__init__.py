"""PyTorch for neurogym-core: batches on the device, recurrent networks, training, activations."""

from neurogym_torch.activity import fit_bound, record_activity
from neurogym_torch.data import TorchBatch, TorchDataset
from neurogym_torch.epochs import Epochs
from neurogym_torch.exchange import export
from neurogym_torch.layout import NetworkLayout
from neurogym_torch.loading import BatchLoader
from neurogym_torch.losses import balanced_weights, masked_loss
from neurogym_torch.mixture import TaskMix
from neurogym_torch.networks import GRU, LSTM, LeakyRNN, LowRankRNN, Network, load_network
from neurogym_torch.rendering import render
from neurogym_torch.subjects import NetworkSubject
from neurogym_torch.together import train_together

__all__ = [
    "GRU",
    "LSTM",
    "BatchLoader",
    "Epochs",
    "LeakyRNN",
    "LowRankRNN",
    "Network",
    "NetworkLayout",
    "NetworkSubject",
    "TaskMix",
    "TorchBatch",
    "TorchDataset",
    "balanced_weights",
    "export",
    "fit_bound",
    "load_network",
    "masked_loss",
    "record_activity",
    "render",
    "train_together",
]
