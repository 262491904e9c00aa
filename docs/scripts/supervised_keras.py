"""Supervised learning with Keras, after NeuroGym's notebook of that name.

The batches of `Dataset` are NumPy arrays, and its weights are Keras's sample weights. Then the
model plays a trial, which is drawn. Keras runs on torch here; any of its backends does.

    KERAS_BACKEND=torch python docs/scripts/supervised_keras.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
from neurogym_plot import save_figure, trace_of, trial_figure

from neurogym_core import Dataset

TASK, SETTINGS = "PerceptualDecisionMaking-v0", {"dt": 100}


class KerasSubject:
    """Plays one env: the model gets all observations of the trial so far."""

    def __init__(self, model: keras.Model) -> None:
        self.model = model

    def begin(self, env: Any) -> None:
        """Forget earlier observations."""
        self.trial, self.seen = -1, []

    def __call__(self, env: Any, observations: np.ndarray) -> np.ndarray:
        """Return actions (1,) for observations (1, units)."""
        if env.trial_number[0] != self.trial:
            self.trial, self.seen = int(env.trial_number[0]), []
        self.seen.append(observations[0].copy())
        outputs = self.model.predict(np.stack(self.seen)[None], verbose=0)
        return outputs[:, -1].argmax(axis=1)


def main(updates: int = 500, trials: int = 500, out: str | Path = ".") -> float:
    """Train, test, draw, and return the mean performance."""
    keras.utils.set_random_seed(0)
    dataset = Dataset(TASK, batch_size=16, seed=0, **SETTINGS)
    inputs = keras.Input((None, dataset.n_inputs))
    hidden = keras.layers.LSTM(64, return_sequences=True)(inputs)
    model = keras.Model(inputs, keras.layers.Dense(dataset.n_outputs)(hidden))
    model.compile(
        optimizer=keras.optimizers.Adam(1e-2),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    batches = ((batch.inputs, batch.targets, batch.weights) for batch in dataset)
    model.fit(batches, steps_per_epoch=max(updates // 5, 1), epochs=min(updates, 5), verbose=2)

    test = next(Dataset(TASK, batch_size=trials, seed=1, **SETTINGS))
    record = test.score(model.predict(test.inputs, verbose=0))
    performance = float(record["performance"].mean())
    print(f"performance: {performance:.3f} of {trials} trials")

    trace = trace_of(TASK, KerasSubject(model), seed=2, **SETTINGS)
    save_figure(trial_figure(trace), Path(out) / "model.png")
    return performance


if __name__ == "__main__":
    main()
