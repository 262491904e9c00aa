"""The noise that packages compute on devices is that of the core."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core.trials import noise

UNITS = [slice(0, 1), slice(3, 5), slice(1, 40), slice(8, 8)]


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Name of a device of torch."""
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device on this machine")
    return request.param


def test_in_torch_every_word_gives_the_same_number(device):
    import torch

    module = pytest.importorskip("neurogym_torch.noise")
    rng = np.random.default_rng(1)
    edges = np.array([0, 1, 2**24, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1])
    powers = 2 ** np.arange(32)
    words = np.concatenate([edges, powers, powers - 1, rng.integers(0, 2**32, 200_000)])
    made = module.normal(torch.from_numpy(words).to(device)).cpu().numpy()
    np.testing.assert_array_equal(
        made.view(np.uint32), noise.normal(words.astype(np.uint32)).view(np.uint32)
    )


@pytest.mark.parametrize("units", UNITS)
def test_in_torch_noise_is_the_same_for_any_key_trial_step_and_unit(units, device):
    import torch

    module = pytest.importorskip("neurogym_torch.noise")
    rng = np.random.default_rng(units.stop)
    serial, step = rng.integers(0, 2**62, 300), rng.integers(0, 2**32, 300)
    for key in (0, 2**63 + 5, 2**64 - 1):
        made = (
            module.gaussian(
                key, torch.from_numpy(serial).to(device), torch.from_numpy(step).to(device), units
            )
            .cpu()
            .numpy()
        )
        wanted = noise.gaussian(key, serial, step, units)
        assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(made, wanted)


def test_in_jax_words_are_the_same_bit_for_bit():
    jnp = pytest.importorskip("jax.numpy")
    module, params = map(pytest.importorskip, ("neurogym_jax.noise", "neurogym_jax.params"))
    rng = np.random.default_rng(0)
    counters = rng.integers(0, 2**32, (4, 5000), np.uint64)
    key = int(rng.integers(2**63))
    words = jnp.asarray(counters.astype(np.uint32))
    here = module.philox(*words, jnp.asarray(params.words_of(key)))
    there = noise.philox(*counters, key)
    assert (np.stack([np.asarray(word) for word in here], axis=-1) == there).all()


def test_in_jax_noise_is_the_same_to_rounding():
    jnp = pytest.importorskip("jax.numpy")
    module, params = map(pytest.importorskip, ("neurogym_jax.noise", "neurogym_jax.params"))
    key, serial, step = 0x123456789ABCDEF0, np.arange(3000), np.arange(3000) * 7
    here = module.gaussian(jnp.asarray(params.words_of(key)), serial, step, slice(1, 10))
    there = noise.gaussian(key, serial, step, slice(1, 10))
    np.testing.assert_allclose(here, there, atol=1e-6)
