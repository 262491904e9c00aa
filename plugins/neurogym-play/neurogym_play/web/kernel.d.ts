/** A table: its different entries, and the entry at each place; without `at` there is one. */
export interface Packed<T> {
  rows: T[];
  at?: number[];
}

/** A named part of an observation or an action, as `ngym info --json` describes it. */
export interface Part {
  name: string;
  kind: string;
  start: number;
  stop: number;
  size: number;
  names?: string[];
  axis?: [number, number];
  circular?: boolean;
}

/** Trials of a task, from `neurogym_play.trial_tables`. */
export interface Trials {
  format: number;
  task: string;
  seed: number;
  /** The key of the noise: its low and its high 32 bits. */
  key: [number, number];
  first_serial: number;
  trials_per_session: number | null;
  n_trials: number;
  /** The shortest response window, ms; null: none, or without an end. */
  shortest_window: number | null;
  dt: number;
  channels: Part[];
  actions: Part[];
  continuous: boolean;
  /** A label for each discrete action. */
  labels: string[];
  /** The discrete action of not answering, if there is one. */
  rest: number | null;
  /** The axis of continuous actions that triggers an answer, and its threshold. */
  trigger: [number, number] | null;
  tracking_reward: number;
  /** The reward of a right answer. */
  correct: number;
  /** The largest error of every axis on target, where traces are scored. */
  tolerances: number[] | null;
  /** The type of each trial. */
  kind: number[];
  /** Names of the conditions. */
  conditions: string[];
  /** The signed evidence of each trial, positive for the last choice; null without evidence. */
  evidence: number[] | null;
  /** Column of the record -> a value for each trial: conditions, covariates and durations. */
  columns: Record<string, (number | string | boolean | number[])[]>;
  /** Column of the record -> the names of its values. */
  names: Record<string, string[]>;
  period_names: string[];
  slots: { name: string; start: number; stop: number; pays?: Record<string, number | string> }[];
  shared: Record<string, (number | boolean)[]>;
  segments: Record<string, Packed<unknown>>;
  types: Record<string, Packed<unknown>>;
  frames: Record<string, Packed<number[]>>;
}

/** A row of the record, with the columns of `neurogym_core.run`; a missing time is NaN. */
export type Row = Record<string, number | string | boolean | number[]>;

export interface Step {
  reward: number;
  /** Whether the trial ended; the next one has begun. */
  ended: boolean;
  /** Whether the session ended with it. */
  over: boolean;
}

export const FORMAT: number;
export const OUTCOMES: string[];

/** Plays exported trials, one after another, as the kernel of neurogym_core does. */
export class Kernel {
  /** `lines`: the table of the noise, 2 * 16385 numbers, from `neurogym_core.players.noise_table`. */
  constructor(trials: Trials, lines: Float32Array);
  readonly trials: Trials;
  /** The rows of the trials that ended. */
  readonly rows: Row[];
  /** Number of the current trial. */
  readonly trial: number;
  /** Steps of the current trial that were played. */
  readonly clock: number;
  /** Reward of the current trial so far. */
  readonly total: number;
  /** Whether all trials have ended. */
  readonly done: boolean;
  /** Name of the current period. */
  readonly period: string;
  /** The right action: an id, or values in the units of the task. */
  readonly target: number | Float32Array;
  /** Whether an answer is open on this step. */
  readonly isAsked: boolean;
  /** The observation of this step before its noise is added; do not change it. */
  readonly exact: Float32Array;
  /** The observation of this step, with its noise. */
  observe(): Float32Array;
  /** Play a step with an action id, or with continuous values in [-1, 1]. */
  step(action: number | ArrayLike<number>): Step;
}

/** The rows of a record as CSV, in the form of `ngym run --csv`. */
export function toCSV(rows: Row[]): string;
