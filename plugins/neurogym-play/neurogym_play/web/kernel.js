// A step of a trial, over exported tables: the rules of neurogym_core/play/kernel.py, in its order.
// The tests replay every task that can be exported, and compare each number with that kernel.

export const FORMAT = 1;
export const OUTCOMES = ["none", "correct", "error", "abort", "miss", "other"];
const STAY = -1, END = -2, RESTING = -1, NOT_VISITED = -1;
const NONE = 0, CORRECT = 1, ERROR = 2, ABORT = 3, MISS = 4;
const BADNESS = [0, 1, 4, 5, 3, 2];
const MIDDLE = 1e-6, ROUNDING = 1e-6, SLACK = 1e-9;

// ---------------------------------------------------------------- noise

const single = Math.fround;
const word = new DataView(new ArrayBuffer(4));
const bitsOf = (x) => (word.setFloat32(0, x), word.getUint32(0));
const floatOf = (bits) => (word.setUint32(0, bits), word.getFloat32(0));

/** The high and the low word of the product of two words. */
function product(a, b) {
  const al = a & 0xffff, ah = a >>> 16, bl = b & 0xffff, bh = b >>> 16;
  const low = al * bl, left = ah * bl, right = al * bh;
  const middle = (low >>> 16) + (left & 0xffff) + (right & 0xffff);
  const high = ah * bh + (left >>> 16) + (right >>> 16) + (middle >>> 16);
  return [high >>> 0, ((middle << 16) | (low & 0xffff)) >>> 0];
}

/** Philox4x32-10: four random words for a counter of four words and a key of two. */
function philox([c0, c1, c2, c3], [k0, k1]) {
  for (let i = 0; i < 10; i++) {
    const [h0, l0] = product(0xd2511f53, c0), [h1, l1] = product(0xcd9e8d57, c2);
    [c0, c1, c2, c3] = [(h1 ^ c1 ^ k0) >>> 0, l1, (h0 ^ c3 ^ k1) >>> 0, l0];
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** The standard normal number of a random word, from a line of the table; float32 throughout. */
function normal(bits, lines) {
  const rank = single(single(bits & 0x7fffffff) + 0.5);
  const place = bitsOf(rank) - 0x3f000000, cell = place >>> 14, part = place & 0x3fff;
  const magnitude = single(lines[2 * cell] + single(part * lines[2 * cell + 1]));
  return floatOf((bitsOf(magnitude) | (bits & 0x80000000)) >>> 0);
}

// ---------------------------------------------------------------- tables

const SINGLES = new Set(["shown", "sd", "script", "target_script"]);
const withNaN = (entry) => (Array.isArray(entry) ? entry.map(withNaN) : entry ?? NaN);

/** A function from a place to its entry, for a table as `trial_tables` packs it. */
function entries({ rows, at }, isSingle) {
  const read = rows.map(isSingle ? (entry) => Float32Array.from(entry) : withNaN);
  return at ? (place) => read[at[place]] : () => read[0];
}

const clip = (x, low, high) => Math.min(Math.max(x, low), high);
const filled = (n, value) => Array(n).fill(value);

/** Rewards of continuous answers, (error, tolerance) -> reward. */
const GRADED = {
  power_law: ({ exponent, least, most }) => (error, tolerance) =>
    most * Math.max(clip(1 - error / tolerance, 0, 1) ** exponent, least),
  inverse_square: ({ most }) => (error) => most / ((1 + error) * (1 + error)),
};

const angleOf = (values, i) => {
  const [x, y] = [values[i], values[i + 1]];
  return Math.hypot(x, y) > MIDDLE ? Math.atan2(y, x) : NaN;
};
const circularDistance = (a, b) =>
  Math.abs(a - b - 2 * Math.PI * Math.round((a - b) / (2 * Math.PI)));

// ---------------------------------------------------------------- the kernel

export class Kernel {
  constructor(trials, lines) {
    if (trials.format !== FORMAT)
      throw new Error(`The tables have format ${trials.format}. Expected ${FORMAT}. Export again.`);
    this.trials = trials;
    this.lines = lines;
    this.table = { ...trials.shared };
    const { segments, types, frames } = trials;
    for (const [name, packed] of Object.entries({ ...segments, ...types, ...frames }))
      this.table[name] = entries(packed, SINGLES.has(name) || (name === "target" && trials.continuous));
    this.slots = trials.slots.map((slot) => ({
      ...slot,
      prefix: trials.slots.length > 1 ? `${slot.name}.` : "",
      grade: slot.pays && GRADED[slot.pays.kind](slot.pays),
    }));
    // One axis for each number of an action; a circle is one axis of two numbers.
    this.axes = !trials.continuous ? [] : trials.actions.flatMap((part) =>
      part.circular ? [part] : filled(part.size, part).map((one, i) => ({ ...one, start: one.start + i })));
    this.rows = [];
    this.session = 0;
    this.left = trials.trials_per_session ?? Infinity;
    this.ends = 0;
    this.trial = -1;
    this.beginNext();
  }

  // ------------------------------------------------------------ the current step

  get done() {
    return this.trial >= this.trials.n_trials;
  }

  get period() {
    return this.trials.period_names[this.table.period[this.segment]];
  }

  get target() {
    const { script_at, target, target_script } = this.table;
    return this.trials.frames.target_script.rows.length
      ? target_script(script_at(this.here) + this.within)
      : target(this.here);
  }

  get isAsked() {
    return this.table.window(this.here).some((open, k) => open && !this.log.outcome[k]);
  }

  get within() {
    return this.table.endless[this.segment] ? 0 : this.clock - this.entered;
  }

  get exact() {
    const { shown, script, script_at } = this.table, at = script_at(this.here);
    return at < 0 ? shown(this.here) : script(at + this.within);
  }

  observe() {
    const seen = Float32Array.from(this.exact);
    const serial = this.trials.first_serial + this.trial, level = this.table.sd(this.here);
    let words, block = -1;
    for (let unit = 0; unit < seen.length; unit++) {
      if (!level[unit]) continue;
      if (block !== unit >> 2) {
        block = unit >> 2;
        words = philox([this.clock, block, serial >>> 0, Math.floor(serial / 2 ** 32)], this.trials.key);
      }
      seen[unit] = single(seen[unit] + single(level[unit] * normal(words[unit & 3], this.lines)));
    }
    return seen;
  }

  // ------------------------------------------------------------ a step

  step(action) {
    if (this.done) throw new Error("All trials have ended. Expected a trial. Make a new Kernel.");
    const { table, here } = this;
    const given = this.trials.continuous ? this.judge(action) : null;
    const column = given ? given.column : action;
    let reward = table.reward(here)[column] + (given ? given.extra : 0);
    this.clock++;
    if (table.aborts(here)[column]) this.log.aborts++;

    let destination = STAY, leaves = false;
    if (table.slot(here)[column] >= 0) [reward, destination] = this.answer(column, reward, given);
    else if (table.goto(here)[column] !== STAY) [destination, leaves] = [table.goto(here)[column], true];

    const before = this.segment;
    let segment = before, moves = true;
    if (destination >= 0) segment = this.landing(table.entry[destination]);
    else if (destination === END) segment = END;
    else if (this.clock - this.entered >= table.duration(here) && !table.endless[segment]) {
      segment = this.landing(table.follows[segment]);
      reward = this.close(segment, reward, given);
    } else moves = false;
    const aborted = leaves && segment < 0;
    if (segment >= 0 && this.clock >= table.limit(this.type)) {
      segment = END;
      reward = this.close(END, reward, given);
    }

    this.total += reward;
    if (segment < 0) return { reward, ended: true, over: this.end(aborted) };
    if (moves) this.enter(segment, segment > before ? before : -1);
    return { reward, ended: false, over: false };
  }

  /** Score an answer to a slot; return the reward of the step, and the destination. */
  answer(column, reward, given) {
    const { table, log, type, here } = this, k = table.slot(here)[column];
    if (log.outcome[k]) return [0, STAY];
    const steps = this.clock - log.opened[k], ms = steps * this.trials.dt;
    const due = table.due(type)[k], tolerance = table.tolerance(type)[k];
    let outcome = table.outcome(here)[column], score = table.score(here)[column];
    let destination = table.goto(here)[column], wrong = false, pay = NaN;
    if (!Number.isNaN(due)) {
      if (outcome === CORRECT || given) {
        wrong = Math.abs(ms - due) > tolerance + SLACK;
        const from = table.graded_from(type)[k], graded = table.graded(type)[k];
        if (from) pay = graded[clip(steps - from, 0, graded.length - 1)];
      }
    } else if (given) {
      wrong = given.distance[k] > tolerance + SLACK;
      pay = given.graded[k];
      if (!Number.isNaN(pay)) score = given.score[k];
    }
    const needs = table.needs[k];
    if (needs >= 0 && outcome === CORRECT) wrong ||= log.outcome[needs] !== CORRECT;
    if (wrong) {
      [outcome, score] = [ERROR, 0];
      [reward, destination] = [table.error_reward(type)[k], table.error_goto(type)[k]];
    } else if (!Number.isNaN(pay)) reward = pay;
    [log.outcome[k], log.score[k], log.time[k]] = [outcome, score, ms];
    log.choice[k] = given ? 0 : column - table.first_action[k];
    log.values[k] = given?.values;
    if (++log.answers[k] === 1) log.first[k] = { outcome, choice: log.choice[k], time: ms };
    return [reward, destination];
  }

  /** Close the windows that are not open in the coming segment (END: all); return the reward. */
  close(coming, reward, given) {
    const { table, log, type } = this, open = table.window(this.here);
    const stays = coming >= 0 ? table.window(this.placeOf(coming)) : [];
    this.slots.forEach((_, k) => {
      if (!open[k] || log.outcome[k] || stays[k]) return;
      if (given && !this.trials.trigger) {
        const near = given.distance[k] <= table.tolerance(type)[k] + SLACK;
        [log.outcome[k], log.score[k]] = [near ? CORRECT : ERROR, given.score[k]];
        [log.choice[k], log.values[k]] = [0, given.values];
        reward += given.graded[k];
      } else {
        const outcome = table.miss_outcome(type)[k];
        [log.outcome[k], log.score[k]] = [outcome, outcome === CORRECT ? 1 : 0];
        reward += table.miss_reward(type)[k];
      }
    });
    return reward;
  }

  /** The segment that is played on entering one: those of 0 steps are skipped. */
  landing(segment) {
    for (let i = 0; i < 2 * this.table.period.length; i++) {
      if (segment < 0 || this.table.duration(this.placeOf(segment))) return segment;
      segment = this.table.follows[segment];
    }
    return END;
  }

  /** Enter a segment, coming from an earlier one (`before`), or from elsewhere (-1). */
  enter(segment, before) {
    const { table, log, clock } = this, open = table.window(this.placeOf(segment));
    const wasOpen = before >= 0 ? table.window(this.placeOf(before)) : [];
    if (clock) log.offset[table.period[this.segment]] = clock;
    if (log.onset[table.period[segment]] < 0) log.onset[table.period[segment]] = clock;
    [this.segment, this.entered, this.here] = [segment, clock, this.placeOf(segment)];
    this.slots.forEach((_, k) => {
      if (!open[k] || wasOpen[k]) return;
      if (table.again[k])
        [log.outcome[k], log.choice[k], log.time[k], log.score[k]] = [NONE, RESTING, NaN, 0];
      if (!log.outcome[k]) log.opened[k] = clock;
    });
  }

  placeOf(segment) {
    return this.type * this.table.period.length + segment;
  }

  // ------------------------------------------------------------ trials begin and end

  beginNext() {
    const K = this.slots.length, P = this.trials.period_names.length;
    this.trial++;
    if (this.done) return;
    this.type = this.trials.kind[this.trial];
    this.log = {
      aborts: 0, outcome: filled(K, NONE), choice: filled(K, RESTING), time: filled(K, NaN),
      score: filled(K, 0), opened: filled(K, 0), values: filled(K, undefined),
      answers: filled(K, 0), first: filled(K, { outcome: NONE, choice: RESTING, time: NaN }),
      onset: filled(P, NOT_VISITED), offset: filled(P, NOT_VISITED),
    };
    [this.clock, this.total] = [0, 0];
    this.enter(this.landing(0), -1);
  }

  /** Score the trial, and begin the next one; return whether the session ended. */
  end(aborted) {
    const { table, log, type } = this, best = table.best(type);
    let asked = 0, score = 0, worst = NONE, performance = 0;
    table.asked(type).forEach((is, k) => {
      if (!is) return;
      asked++;
      score += log.score[k];
      if (BADNESS[log.outcome[k]] > BADNESS[worst]) worst = log.outcome[k];
    });
    if (asked && worst === NONE) worst = MISS;
    if (Number.isNaN(best)) performance = asked ? score / asked : 0;
    else if (best > 0) performance = this.total / best;
    log.offset[table.period[this.segment]] = this.clock;
    this.rows.push(this.row(aborted ? ABORT : worst, clip(performance, 0, 1)));
    const over = --this.left === 0;
    if (over) [this.session, this.left] = [this.session + 1, this.trials.trials_per_session];
    this.beginNext();
    return over;
  }

  /** The row of the record of the trial that ended, with the columns of `neurogym_core.run`. */
  row(outcome, performance) {
    const { log, trials, slots } = this, { dt, columns, names } = trials, lasted = this.clock * dt;
    this.ends += lasted;
    const begin = this.ends - lasted;
    const named = (column, value) =>
      !names[column] ? value : value < 0 ? "none" : names[column][value] ?? `${value}`;
    const known = (isDuration) => Object.keys(columns)
      .filter((name) => name.startsWith("duration.") === isDuration)
      .map((name) => [name, named(name, columns[name][this.trial])]);
    const moments = (prefix, clocks) => trials.period_names.map((name, p) =>
      [prefix + name, clocks[p] === NOT_VISITED ? NaN : clocks[p] * dt + begin]);
    return Object.fromEntries([
      ["subject", 0], ["trial", this.trial], ["env", 0], ["session", this.session],
      ...known(false),
      ...slots.flatMap(({ prefix }, k) => [
        [`${prefix}choice`, trials.continuous ? this.valueOf(k) : named(`${prefix}choice`, log.choice[k])],
        [`${prefix}outcome`, OUTCOMES[log.outcome[k]]],
        [`${prefix}reaction_time`, log.time[k]],
        ...(this.table.again[k] ? this.firstOf(k, prefix, named) : []),
      ]),
      ["outcome", OUTCOMES[outcome]], ["performance", performance], ["reward", this.total],
      ["aborts", log.aborts], ["steps", this.clock],
      ...known(true),
      ["trial_start", begin], ["trial_stop", lasted + begin],
      ...slots.flatMap(({ prefix }, k) => [
        [`${prefix}answer_time`, log.opened[k] * dt + log.time[k] + begin],
        [`${prefix}rest_correct`, this.table.miss_outcome(this.type)[k] === CORRECT],
      ]),
      ...moments("onset.", log.onset), ...moments("offset.", log.offset),
    ]);
  }

  /** The columns of the first answer to a slot that can be answered again, and their number. */
  firstOf(k, prefix, named) {
    const { choice, outcome, time } = this.log.first[k], name = `${prefix}first_choice`;
    return [
      ...(this.trials.continuous ? [] : [[name, named(name, choice)]]),
      [`${prefix}first_outcome`, OUTCOMES[outcome]], [`${prefix}first_reaction_time`, time],
      [`${prefix}answers`, this.log.answers[k]],
    ];
  }

  // ------------------------------------------------------------ continuous actions

  axesOf({ start, stop }) {
    return this.axes.filter((axis) => start <= axis.start && axis.start < stop);
  }

  /** The error of an axis: a difference; of a circle, 0 to pi. */
  error(axis, values, targets) {
    if (!axis.circular) return values[axis.start] - targets[axis.start];
    const away = circularDistance(angleOf(values, axis.start), angleOf(targets, axis.start));
    return Number.isNaN(away) ? Math.PI : away;
  }

  /** The contributions of a continuous action to a step; its values are in the units of the task. */
  judge(action) {
    const { table, type, slots } = this, { actions, trigger } = this.trials, values = [];
    for (const { circular, axis, size } of actions) {
      const [low, high] = circular ? [-1, 1] : axis; // radians are declared, points are given
      for (let i = 0; i < size; i++)
        values.push(low + (action[values.length] + 1) * (0.5 * (high - low)));
    }
    const aim = table.aim(type), tolerance = table.tolerance(type);
    const distance = slots.map((slot, k) =>
      Math.sqrt(this.axesOf(slot).reduce((sum, axis) => sum + this.error(axis, values, aim[k]) ** 2, 0)));
    const graded = slots.map(({ grade }, k) => (grade ? grade(distance[k], tolerance[k]) : NaN));
    const score = slots.map(({ grade }, k) => {
      const most = grade ? grade(0, tolerance[k]) : 0;
      return most ? clip(graded[k] / most, 0, 1) : 1;
    });
    const column = trigger && values[trigger[0]] > trigger[1] ? 1 : 0;
    if (trigger) return { values, column, distance, graded, score, extra: 0 };
    slots.forEach((_, k) => {
      const near = distance[k] <= tolerance[k] + SLACK;
      if (!near) [graded[k], score[k]] = [table.error_reward(type)[k], 0];
      else if (Number.isNaN(graded[k])) [graded[k], score[k]] = [table.correct_reward(type)[k], 1];
    });
    return { values, column, distance, graded, score, extra: this.tracking(values) };
  }

  /** The pay for tracking the target, where the weight is not 0. */
  tracking(values) {
    if (!(this.table.weight(this.here) > 0)) return 0;
    const target = this.target, { tolerances, correct } = this.trials;
    if (tolerances) {
      const near = this.axes.filter((axis, i) =>
        Math.abs(this.error(axis, values, target)) <= tolerances[i]);
      return (near.length / this.axes.length) * this.table.share(this.here) * correct;
    }
    const squares = this.axes.map((axis) => {
      const range = axis.circular ? Math.PI : axis.axis[1] - axis.axis[0];
      const error = this.error(axis, values, target) / range;
      return Math.abs(error) < ROUNDING ? 0 : error * error;
    });
    return -(squares.reduce((sum, one) => sum + one, 0) / squares.length) * this.trials.tracking_reward + 0;
  }

  /** The values of a continuous answer, as the record has them. */
  valueOf(k) {
    const values = this.log.choice[k] < 0 ? [] : this.log.values[k];
    const read = this.axesOf(this.slots[k]).map((axis) =>
      (axis.circular ? angleOf(values, axis.start) : values[axis.start]) || 0);
    return read.length === 1 ? read[0] : read;
  }
}

/** The rows of a record as CSV, in the form of `ngym run --csv`. */
export function toCSV(rows) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const written = (value) =>
    typeof value === "string" ? quoted(value)
    : typeof value === "boolean" ? (value ? "True" : "False")
    : Number.isNaN(value) ? "nan" : String(value);
  const columns = Object.keys(rows[0] ?? {})
    .filter((name) => !name.endsWith("rest_correct") || rows.some((row) => row[name]));
  const spread = (row) => columns.flatMap((name) => Array.isArray(row[name])
    ? row[name].map((value, i) => [`${name}[${i}]`, value]) : [[name, row[name]]]);
  const lines = rows.map((row) => spread(row).map(([, value]) => written(value)));
  const head = rows.slice(0, 1).map((row) => spread(row).map(([name]) => quoted(name)));
  return [...head, ...lines].map((cells) => `${cells.join(",")}\n`).join("");
}
