"""Supervised learning with Keras, after NeuroGym's notebook of that name.

The batches of `Dataset` are NumPy arrays, and its weights are Keras's sample weights. Keras runs on
torch here; any of its backends does.

    KERAS_BACKEND=torch python docs/scripts/supervised_keras.py
"""

from __future__ import annotations

import keras

from neurogym_core import Dataset

TASK, SETTINGS = "PerceptualDecisionMaking-v0", {"dt": 100}


def main(updates: int = 500, trials: int = 500) -> float:
    """Train, test, and return the mean performance."""
    keras.utils.set_random_seed(0)
    dataset = Dataset(TASK, batch_size=16, seed=0, **SETTINGS)
    inputs = keras.Input((None, dataset.n_inputs))
    hidden = keras.layers.LSTM(64, return_sequences=True)(inputs)
    model = keras.Model(inputs, keras.layers.Dense(dataset.n_outputs)(hidden))
    model.compile(
        optimizer=keras.optimizers.Adam(1e-2),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    batches = ((batch.inputs, batch.targets, batch.weights) for batch in dataset)
    model.fit(batches, steps_per_epoch=max(updates // 5, 1), epochs=min(updates, 5), verbose=2)

    test = next(Dataset(TASK, batch_size=trials, seed=1, **SETTINGS))
    record = test.score(model.predict(test.inputs, verbose=0))
    performance = float(record["performance"].mean())
    print(f"performance: {performance:.3f} of {trials} trials")
    return performance


if __name__ == "__main__":
    main()
