"""`Engine`: the workers of a sweep: processes of this machine, or those of Dask, Ray or Slurm."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import joblib

from neurogym_core import InvalidValueError, NeurogymError
from neurogym_core.tools import optional, unknown
from neurogym_sweep.store import Job, Store
from neurogym_sweep.worker import Outcome, limited, pull, work_on

BACKENDS = {"processes": "loky", "threads": "threading", "serial": "sequential"}
ENGINES = ("processes", "threads", "serial", "dask", "ray", "slurm")
POLL = 1.0
"""Seconds between looks at the results of jobs of Slurm."""


@dataclass(frozen=True)
class Engine:
    """Workers that do jobs.

    Args:
        name: "processes", "threads", "serial", "dask", "ray", "slurm", or another backend that is
            registered with joblib.
        address: of the Dask scheduler or the Ray cluster; None: start one on this machine. For
            Slurm: "local" does the same jobs on this machine.
        jobs: number of runs at a time; None: one per core.
        threads: threads of numerical libraries in each run; None: cores divided by `jobs`.
        slurm: parameters of `submitit.AutoExecutor.update_parameters`.
    """

    name: str = "processes"
    address: str | None = None
    jobs: int | None = None
    threads: int | None = None
    slurm: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, **settings: Any) -> Engine:
        """Return the engine of ``NAME`` or ``NAME:ADDRESS``.

        Raises:
            UnknownNameError: there is no such engine.
            InvalidValueError: an address for an engine that has none.
        """
        name, _, address = text.partition(":")
        known = [*ENGINES, *(backend for backend in joblib.parallel.BACKENDS if backend)]
        if name not in known:
            raise unknown("engine", name, ENGINES)
        if address and name not in ("dask", "ray", "slurm"):
            raise InvalidValueError(
                f"--on was given {text!r}. Expected an address only for dask, ray and slurm. Leave"
                f" {address!r} out."
            )
        if settings.get("slurm") and name != "slurm":
            raise InvalidValueError(
                f"--slurm was given with --on {text}. Expected it with --on slurm. Leave it out."
            )
        return cls(name, address or None, **settings)

    @property
    def n_jobs(self) -> int:
        """Number of runs at a time on this machine."""
        return self.jobs or joblib.cpu_count()

    @property
    def n_threads(self) -> int:
        """Threads of numerical libraries in each run."""
        if self.threads is not None:
            return self.threads
        if self.address is not None or self.name == "slurm":
            return 1  # the cores of other machines are not known here
        return max(1, joblib.cpu_count() // self.n_jobs)

    def check(self) -> None:
        """Import the library of the engine, so that an error comes before the first run."""
        if self.name == "dask":
            optional("distributed", needed_for="--on dask")
        elif self.name == "ray":
            optional("ray", needed_for="--on ray")
        elif self.name == "slurm":
            optional("submitit", needed_for="--on slurm")

    @contextlib.contextmanager
    def started(self) -> Iterator[Engine]:
        """Start the workers, or connect to them, for the time of the block.

        The engine that it yields uses these workers, also in blocks inside this one.
        """
        with contextlib.ExitStack() as stack:
            engine = self
            if self.name == "dask":
                client = stack.enter_context(self._dask())
                engine = replace(
                    self,
                    address=client.scheduler.address,
                    jobs=sum(client.nthreads().values()) or self.n_jobs,
                    threads=self.n_threads,
                )
            elif self.name == "ray":
                cores = stack.enter_context(self._ray())
                engine = replace(self, jobs=self.jobs or cores, threads=self.n_threads)
            elif self.name in ("serial", "threads"):
                stack.enter_context(limited(self.n_threads))
            yield engine

    def outcomes(
        self, jobs: Sequence[Job], store: Store, trackers: Sequence[str] = ()
    ) -> Iterator[Outcome]:
        """Do jobs, and return their outcomes as they end.

        Exceptions of runs are in their results: an exception is one of the engine, for example that
        a worker was killed.
        """
        folder = os.path.abspath(store.folder)
        if self.name == "slurm":
            yield from self._slurm(jobs, store, folder, trackers)
            return
        threads = None if self.name in ("serial", "threads") else self.n_threads
        settings: dict[str, Any] = {"backend": BACKENDS.get(self.name, self.name)}
        settings["n_jobs"] = 1 if self.name == "serial" else self.n_jobs
        if self.name == "dask":
            settings |= {"n_jobs": -1, "wait_for_workers_timeout": 60}
        if settings["backend"] == "loky":
            settings["inner_max_num_threads"] = threads
        calls = (joblib.delayed(work_on)(job, folder, threads, tuple(trackers)) for job in jobs)
        with warnings.catch_warnings(), joblib.parallel_config(**settings):
            # loky replaces workers that have grown, and a sweep that stops cancels its calls.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            warnings.filterwarnings("ignore", ".*have been cancelled", UserWarning)
            if self.name in ("ray", "multiprocessing"):  # these backends return lists only
                size = 16 * self.n_jobs
                while part := list(itertools.islice(calls, size)):
                    yield from joblib.Parallel(batch_size=1)(part)
            else:
                yield from joblib.Parallel(return_as="generator_unordered", batch_size=1)(calls)

    @contextlib.contextmanager
    def _dask(self) -> Iterator[Any]:
        """Yield a client of the cluster."""
        distributed = optional("distributed", needed_for="--on dask")
        try:
            with contextlib.ExitStack() as stack:
                address: Any = self.address
                if address is None:
                    address = stack.enter_context(
                        distributed.LocalCluster(
                            n_workers=self.n_jobs, threads_per_worker=1, dashboard_address=None
                        )
                    )
                yield stack.enter_context(distributed.Client(address, timeout=30))
        except (OSError, ValueError) as error:
            if isinstance(error, NeurogymError):
                raise
            raise InvalidValueError(
                f"The Dask scheduler {self.address!r} does not answer: {error}. Expected the"
                " address that `dask scheduler` prints, such as tcp://host:8786. Correct it."
            ) from error

    @contextlib.contextmanager
    def _ray(self) -> Iterator[int]:
        """Yield the number of cores of the cluster."""
        ray = optional("ray", needed_for="--on ray")
        registered = optional("ray.util.joblib", needed_for="--on ray")
        already = ray.is_initialized()
        if not already:
            local = {"num_cpus": self.n_jobs, "include_dashboard": False}
            try:
                ray.init(
                    self.address,
                    log_to_driver=False,
                    logging_level="ERROR",
                    **(local if self.address is None else {}),
                )
            except (ConnectionError, ValueError) as error:
                raise InvalidValueError(
                    f"The Ray cluster {self.address!r} does not answer: {error}. Expected the"
                    " address that `ray start --head` prints, or auto. Correct it."
                ) from error
        registered.register_ray()
        try:
            yield int(ray.cluster_resources().get("CPU", 1))
        finally:
            if not already:
                ray.shutdown()

    def _slurm(
        self, jobs: Sequence[Job], store: Store, folder: str, trackers: Sequence[str]
    ) -> Iterator[Outcome]:
        """Submit an array of jobs, each of which does any runs that are left; look for results."""
        submitit = optional("submitit", needed_for="--on slurm")
        try:
            executor = submitit.AutoExecutor(
                folder=os.path.join(folder, "slurm"), cluster=self.address or "slurm"
            )
            defaults = {"name": "ngym-sweep", "cpus_per_task": self.n_threads}
            executor.update_parameters(**{**defaults, **self.slurm})
        except (RuntimeError, NameError, TypeError, ValueError) as error:
            raise InvalidValueError(
                f"--on slurm cannot be used: {error} Expected a machine that has the command"
                " sbatch, and parameters of submitit in --slurm. Give the command on the login"
                " node of the cluster; --on slurm:local does the same jobs on this machine."
            ) from error
        count = min(self.jobs or 10, len(jobs))
        first = [index * len(jobs) // count for index in range(count)]
        with executor.batch():
            submitted = [
                executor.submit(pull, list(jobs), start, folder, self.n_threads, tuple(trackers))
                for start in first
            ]
        left = {job.key for job in jobs}
        try:
            while left:
                ended = all(one.done() for one in submitted)
                for key in left & store.done():
                    left.remove(key)
                    result = store.result(key) or {}
                    yield Outcome(key, result.get("status", "done"), result.get("error") or "")
                if ended:
                    break
                time.sleep(POLL)
        except (KeyboardInterrupt, GeneratorExit):
            for one in submitted:
                one.cancel(check=False)
            raise
        for one in submitted if left else ():
            for outcome in one.result():  # raises if the job failed
                if outcome.key in left and outcome.status in ("busy", "stopped"):
                    yield outcome
