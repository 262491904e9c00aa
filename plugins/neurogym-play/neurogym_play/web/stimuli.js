// The stimuli of a task, as its manifest declares them. A stimulus knows the values of its channels and nothing else:
// no condition, target or answer is within its reach.

import { View, element } from "./view.js";

const BACK = "#404040", INK = "#ffffff", BLACK = "#000000"; // the grey is the mean of a grating; black has an outline
const WIDTH = 8, HEIGHT = 6; // of the stage, in its units
const PIXELS = 80; // of a unit
const MOST_FLASHES = 3; // a second: more of them can harm
const SEEN = 0.01; // a weaker value is not drawn
const ANGLES = { right: 0, up: 90, left: 180, down: 270 };
const DOTS = 160, SPEED = 3, LIFETIME = 300; // in a patch; units a second; ms
const CLICK = 3, APART = 4, MOST_CLICKS = 4, TONE = 440; // ms, ms, in a step, Hz
const CHOSEN = { red: "#ff5c5c", green: "#3ddc84", blue: "#5aa9ff", yellow: "#ffd84d", orange: "#ff9d3b", violet: "#c79bff", cyan: "#4fe3e3",
  magenta: "#ff7ae0", black: BLACK, white: INK, grey: "#a0a0a0" };

const colourOf = (name) => CHOSEN[name] ?? name ?? INK;
const hue = (angle) => `hsl(${(((angle * 180) / Math.PI + 360) % 360).toFixed(2)} 90% 76%)`;
const picked = (list, i) => (Array.isArray(list) ? list[i % list.length] : list);
const last = (values) => values.reduce((best, x, i) => (x > values[best] ? i : best), 0);

/** Random numbers of a seed, so that a picture is a function of the observations. */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The directions of the units of a group, radians: of their names, or around the circle. */
function directions(channel, size, first = 0) {
  return Array.from({ length: size }, (_, i) => {
    const named = ANGLES[channel.names?.[first + i]?.split(" ")[0]];
    return named === undefined ? (2 * Math.PI * i) / size : (named * Math.PI) / 180;
  });
}

/** The mean vector of a group of units: its length is the coherence, before the gain. */
function vector(values, angles) {
  const n = values.length, [x, y] = ["cos", "sin"].map((f) => values.reduce((sum, v, i) => sum + v * Math[f](angles[i]), 0) / n);
  return { length: Math.hypot(x, y) * (n > 2 ? 2 : 1), angle: Math.atan2(y, x) };
}

/** The angle that a group shows: (cos, sin), or a ring of units; null where it shows nothing. */
function angleOf(values) {
  if (!values.some((x) => Math.abs(x) > SEEN)) return null;
  if (values.length === 2) return Math.atan2(values[1], values[0]);
  const low = Math.min(...values); // a bump on a baseline
  return vector(values.map((x) => x - low), directions({}, values.length)).angle;
}

// ---------------------------------------------------------------- sounds

/** Sounds of a page: clicks, tones and noise. A browser allows them after the first key or click. */
export class Sounds {
  constructor() { [this.playing, this.clicked] = [new Map(), new Map()]; }

  get context() { return (this.made ??= new (globalThis.AudioContext ?? globalThis.webkitAudioContext)()); }

  through(source, pan, loudness) {
    const gain = this.context.createGain(), panner = this.context.createStereoPanner();
    gain.gain.value = loudness;
    panner.pan.value = pan;
    source.connect(gain).connect(panner).connect(this.context.destination);
    return gain;
  }

  noise(ms) {
    const { sampleRate } = this.context, buffer = this.context.createBuffer(1, Math.ceil((ms * sampleRate) / 1000), sampleRate);
    const next = random(1), samples = buffer.getChannelData(0);
    for (let i = 0; i < samples.length; i++) samples[i] = 2 * next() - 1;
    return Object.assign(this.context.createBufferSource(), { buffer });
  }

  /** Clicks on a side; several of a step, or of steps in one frame, follow each other. */
  click(pan, n = 1) {
    for (let k = 0; k < n; k++) {
      const source = this.noise(CLICK), now = this.context.currentTime;
      const at = Math.max(now, (this.clicked.get(pan) ?? 0) + APART / 1000);
      this.through(source, pan, 0.5);
      source.start(at);
      this.clicked.set(pan, at);
    }
  }

  /** Let a tone or noise sound, or end it. */
  hold(key, kind, hz, pan, on) {
    const was = this.playing.get(key);
    if (on && !was) {
      const source = kind === "noise" ? Object.assign(this.noise(1000), { loop: true }) : this.context.createOscillator();
      if (source.frequency) source.frequency.value = hz;
      this.through(source, pan, kind === "noise" ? 0.1 : 0.2);
      source.start();
      this.playing.set(key, source);
    } else if (!on && was) {
      was.stop();
      this.playing.delete(key);
    }
  }

  silence() {
    for (const source of this.playing.values()) source.stop();
    this.playing.clear();
  }
}

// ---------------------------------------------------------------- stimuli

const PATHS = {
  circle: (pen, r) => pen.arc(0, 0, r, 0, 2 * Math.PI),
  square: (pen, r) => pen.rect(-r * 0.9, -r * 0.9, r * 1.8, r * 1.8),
  triangle: (pen, r) => polygon(pen, [0, 120, 240].map((a) => [r * 1.15, a + 90])),
  diamond: (pen, r) => polygon(pen, [0, 90, 180, 270].map((a) => [r * 1.1, a])),
  star: (pen, r) => polygon(pen, Array.from({ length: 10 }, (_, i) => [i % 2 ? r * 0.48 : r * 1.15, 36 * i + 90])),
  cross: (pen, r) => polygon(pen, [0, 90, 180, 270].flatMap((a) => [[r * 1.1, a - 17], [r * 1.1, a + 17], [r * 0.46, a + 45]])),
  hexagon: (pen, r) => polygon(pen, [0, 60, 120, 180, 240, 300].map((a) => [r, a])),
};

function polygon(pen, corners) {
  corners.forEach(([r, degrees], i) => {
    const angle = (degrees * Math.PI) / 180, to = [r * Math.cos(angle), r * Math.sin(angle)];
    if (i) pen.lineTo(...to);
    else pen.moveTo(...to);
  });
  pen.closePath();
}

/** The drawings. Each takes the pen of its place, the values of the place, and the stimulus. */
const DRAW = {
  cross(pen, [value], { size, colour }) {
    if (value <= 0.5) return;
    pen.strokeStyle = colourOf(picked(colour, 0));
    pen.lineWidth = size / 3;
    pen.beginPath();
    pen.moveTo(-size, 0); pen.lineTo(size, 0); pen.moveTo(0, -size); pen.lineTo(0, size);
    pen.stroke();
  },

  dots(pen, values, stimulus, place) {
    if (!values.some((x) => Math.abs(x) > SEEN)) return void (stimulus.dots[place] = undefined);
    const { size, gain, colour, channel } = stimulus, { length, angle } = vector(values, directions(channel, values.length));
    const share = stimulus.values.colour_by && vector(stimulus.values.colour_by, directions({}, stimulus.values.colour_by.length));
    const second = share ? 0.5 - (0.5 * gain * share.length * Math.cos(share.angle)) : 0;
    const { next } = stimulus, strength = Math.min(1, gain * length);
    const born = (dot, age) => {
      const [r, a] = [size * Math.sqrt(next()), 2 * Math.PI * next()], goes = next() < strength ? angle : 2 * Math.PI * next();
      return Object.assign(dot, { x: r * Math.cos(a), y: r * Math.sin(a), goes, age, second: next() < second });
    };
    // A patch whose motion changes gets new dots: old ones would go on in the old direction.
    const known = stimulus.dots[place], shown = `${values} ${stimulus.values.colour_by}`;
    const dots = known?.shown === shown ? known : Object.assign(Array.from({ length: DOTS }, () => born({}, LIFETIME * next())), { shown });
    stimulus.dots[place] = dots;
    for (const dot of dots) {
      dot.age += stimulus.passed;
      dot.x += (SPEED * stimulus.passed * Math.cos(dot.goes)) / 1000;
      dot.y += (SPEED * stimulus.passed * Math.sin(dot.goes)) / 1000;
      if (dot.age > LIFETIME) born(dot, 0);
      else if (Math.hypot(dot.x, dot.y) > size) [dot.x, dot.y] = [-0.98 * dot.x, -0.98 * dot.y];
      pen.fillStyle = colourOf(picked(share ? colour ?? ["red", "green"] : colour, share ? +dot.second : place));
      pen.fillRect(dot.x - 0.035, dot.y - 0.035, 0.07, 0.07);
    }
  },

  grating(pen, [contrast], { size, gain, stage }) {
    const strength = Math.min(1, gain * Math.abs(contrast));
    if (strength < 1e-6) return;
    pen.globalAlpha = strength;
    pen.drawImage(stage.grating(), -2 * size, -2 * size, 4 * size, 4 * size);
  },

  words(pen, values, { words, colour, size, inks = 0, channel, values: { colour_by } }, place, first) {
    let ink = null; // of another channel, or of the first units of the place
    if (colour_by?.length === 1) ink = +(colour_by[0] > 0.5);
    else if (colour_by?.some((x) => x > SEEN)) ink = last(colour_by);
    else if (inks) ink = last(values.slice(0, inks));
    values.slice(inks).forEach((value, i) => {
      if (value <= SEEN) return;
      const k = values.length > 1 ? i : place;
      pen.globalAlpha = Math.min(1, value);
      pen.fillStyle = ink === null ? colourOf(colour_by ? "white" : picked(colour, k)) : colourOf(picked(colour, ink));
      text(pen, picked(words, k) ?? channel.names?.[first + i] ?? channel.name, size, pen.fillStyle === BLACK);
    });
  },

  arrow(pen, values, { angles, size, colour, channel }, place, first) {
    values.forEach((value, i) => {
      if (value <= SEEN) return;
      const k = values.length > 1 ? i : place, turned = angles ? (picked(angles, k) * Math.PI) / 180 : directions(channel, values.length, first)[i];
      pen.save();
      pen.globalAlpha = Math.min(1, value);
      pen.rotate(turned);
      pen.fillStyle = colourOf(picked(colour, k));
      pen.beginPath();
      for (const [x, y] of [[-1, 0.2], [0.1, 0.2], [0.1, 0.55], [1, 0], [0.1, -0.55], [0.1, -0.2], [-1, -0.2]]) pen.lineTo(x * size, y * size);
      pen.fill();
      pen.restore();
    });
  },

  symbol(pen, values, stimulus, place) {
    const { symbols, colour, size, outline, full, noise } = stimulus, { colour_by, count_by } = stimulus.values;
    const strongest = last(values), k = values.length > 1 ? strongest : place;
    const angle = stimulus.hue ? angleOf(values) : 0, value = stimulus.hue ? +(angle !== null) : values[values.length > 1 ? strongest : 0] / full;
    if (!noise && Math.abs(value) <= SEEN) return;
    let ink = stimulus.hue ? hue(angle) : colourOf(picked(colour, k));
    if (colour_by) ink = colourOf(picked(colour, last(colour_by)));
    if (noise) ink = `hsl(0 0% ${Math.min(100, Math.max(0, 25.1 + 23 * value)).toFixed(2)}%)`; // 25.1 %: the background
    else if (!stimulus.hue) pen.globalAlpha = Math.min(1, Math.abs(value));
    [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [ink, ink, 0.08];
    const copies = count_by ? last(count_by) + 1 : 1;
    for (let c = 0; c < copies; c++) {
      pen.save();
      pen.translate((c - (copies - 1) / 2) * 2.2 * size, 0);
      pen.beginPath();
      PATHS[picked(symbols, k) ?? "circle"](pen, size);
      if (!outline) pen.fill();
      if (!outline && ink === BLACK) [pen.strokeStyle, pen.lineWidth] = [CHOSEN.grey, 0.05];
      if (outline || ink === BLACK) pen.stroke();
      pen.restore();
    }
  },

  /** A disc in the direction of a ring, or of a cosine and sine, at a distance from the middle. */
  target(pen, values, { radius, size, colour, outline, gain, channel }, place, first) {
    const angle = angleOf(channel?.names?.[first] === "sin" ? [...values].reverse() : values);
    if (angle === null) return;
    const strength = values.length === 2 ? Math.hypot(...values) : Math.max(...values.map(Math.abs));
    [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [colourOf(picked(colour, place)), colourOf(picked(colour, place)), 0.08];
    pen.globalAlpha = Math.min(1, gain * strength);
    pen.beginPath();
    pen.arc(radius * Math.cos(angle), radius * Math.sin(angle), size, 0, 2 * Math.PI);
    if (outline) pen.stroke();
    else pen.fill();
  },

  /** A disc at the place that the values say: x, or x and y. At (0, 0) there is none, unless `always`. */
  point(pen, [x, y = 0], { radius, full, size, colour, outline, always }, place) {
    if (!always && Math.hypot(x, y) <= SEEN) return;
    [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [colourOf(picked(colour, place)), colourOf(picked(colour, place)), 0.08];
    pen.beginPath();
    pen.arc((radius * x) / full, (radius * y) / full, size, 0, 2 * Math.PI);
    if (outline) pen.stroke();
    else pen.fill();
  },

  /** A bar as long as a value: upwards, or downwards below zero. */
  bar(pen, [value], { full, size, colour }, place) {
    const height = (size * value) / full;
    pen.fillStyle = colourOf(picked(colour, place));
    if (Math.abs(height) > SEEN) pen.fillRect(-0.4, Math.min(0, height), 0.8, Math.abs(height));
  },

  /** Clicks of one step, and the flash that is to be seen of them. */
  clicks(pen, [value], { full, size, colour, words, at }, place) {
    pen.fillStyle = pen.strokeStyle = colourOf(picked(colour, place));
    pen.lineWidth = 0.05;
    pen.strokeRect(-0.4, -size, 0.8, 2 * size);
    const height = (size * value) / full;
    if (Math.abs(height) > SEEN) pen.fillRect(-0.4, Math.min(0, height), 0.8, Math.abs(height));
    label(pen, picked(words, place), -size - 0.35);
  },

  /** A tone or noise, and a disc for people that cannot hear it. */
  sound(pen, values, { words, size, colour, channel }, place, first) {
    values.forEach((value, i) => {
      if (value <= SEEN) return;
      const k = values.length > 1 ? i : place;
      pen.globalAlpha = Math.min(1, value);
      pen.fillStyle = colourOf(picked(colour, k));
      pen.beginPath();
      pen.arc(0, 0, size, 0, 2 * Math.PI);
      pen.fill();
      pen.fillStyle = BLACK;
      text(pen, picked(words, k) ?? channel.names?.[first + i] ?? "♪", size * 0.62);
    });
  },

  /** The circle of colours, in the directions of the answers. */
  wheel(pen, [value], { radius, size }) {
    if (value <= SEEN) return;
    for (let i = 0; i < 120; i++) {
      pen.fillStyle = hue((2 * Math.PI * i) / 120);
      pen.beginPath();
      pen.arc(0, 0, radius, (2 * Math.PI * (i - 0.6)) / 120, (2 * Math.PI * (i + 0.6)) / 120);
      pen.arc(0, 0, radius - size, (2 * Math.PI * (i + 0.6)) / 120, (2 * Math.PI * (i - 0.6)) / 120, true);
      pen.fill();
    }
  },
};

const SIZES = { cross: 0.25, dots: 1.8, grating: 0.9, words: 1, arrow: 0.6, symbol: 0.6, target: 0.3, point: 0.25, bar: 3, clicks: 1, sound: 0.5, wheel: 0.35 };
const WHOLE = new Set(["dots", "words", "arrow", "sound"]); // a place shows all units of its group

function text(pen, said, size, outlined = false) {
  pen.save();
  pen.scale(1, -1); // the y axis of the stage goes up
  pen.font = `${size}px system-ui, sans-serif`;
  [pen.textAlign, pen.textBaseline] = ["center", "middle"];
  if (outlined) {
    [pen.strokeStyle, pen.lineWidth] = [CHOSEN.grey, 0.06];
    pen.strokeText(said, 0, 0.05 * size);
  }
  pen.fillText(said, 0, 0.05 * size);
  pen.restore();
}

function label(pen, said, y) {
  if (!said) return;
  pen.save();
  pen.translate(0, y);
  text(pen, said, 0.35);
  pen.restore();
}

/** The places of a stimulus: given, on a grid, on a circle, or the middle. */
function placesOf({ at, grid, ring, radius = 2.2 }) {
  if (grid) {
    const [columns, rows] = grid, [dx, dy] = [(WIDTH - 0.8) / columns, (HEIGHT - 1) / rows];
    return Array.from({ length: columns * rows }, (_, i) =>
      [((i % columns) - (columns - 1) / 2) * dx, ((rows - 1) / 2 - Math.floor(i / columns)) * dy]);
  }
  if (ring) return Array.from({ length: ring }, (_, i) => [radius * Math.cos((2 * Math.PI * i) / ring), radius * Math.sin((2 * Math.PI * i) / ring)]);
  if (!at) return [[0, 0]];
  return Array.isArray(at[0]) ? at : [at];
}

/** The stage: it draws the stimuli of a view with the pen of a canvas. */
export class Stage {
  /** `own`: the drawings of packages, name -> (pen, values, stimulus, place) => void. */
  constructor(pen, view, channels, { sounds, grating, own = {} } = {}) {
    Object.assign(this, { pen, sounds, grating });
    const named = (name) => channels.find((one) => one.name === name);
    this.stimuli = view.stimuli.map((declared, i) => ({
      size: SIZES[declared.draw] ?? 1, gain: 1, full: 1, radius: 2.2, ...declared, stage: this, channel: named(declared.channel),
      others: ["colour_by", "count_by", "place_by"].filter((key) => declared[key]).map((key) => [key, named(declared[key])]),
      draw: DRAW[declared.draw] ?? own[declared.draw], kind: declared.draw, places: placesOf(declared), number: i,
      dots: [], next: random(i + 1), values: {},
    }));
    this.blank();
  }

  /** Whether something moves between two steps. */
  get moves() { return this.stimuli.some(({ kind, dots }) => kind === "dots" && dots.some(Boolean)); }

  /** Take the observation of a step, with its noise and without; let its clicks be heard. */
  take(seen, exact) {
    this.now = undefined;
    for (const stimulus of this.stimuli) {
      const { channel, noise, others, kind } = stimulus, from = noise ? seen : exact;
      const part = ({ start, stop }) => Array.from(from.slice(start, stop));
      stimulus.main = channel ? part(channel) : [1];
      for (const [key, other] of others) stimulus.values[key] = part(other);
      if (!this.sounds) continue;
      if (kind === "clicks") this.groups(stimulus, ([value], place, at) => {
        const n = Math.min(Math.max(1, Math.round(value)), MOST_CLICKS);
        if (Math.abs(value) > SEEN) this.sounds.click(at[0] / (WIDTH / 2), n);
      });
      if (kind === "sound") this.groups(stimulus, (values, place, at) => values.forEach((value, i) => {
        const hz = picked(stimulus.hz, values.length > 1 ? i : place) ?? TONE;
        this.sounds.hold(`${stimulus.number} ${place} ${i}`, hz === "noise" ? "noise" : "tone", hz, at[0] / (WIDTH / 2), value > 0.5);
      }));
    }
  }

  /** Nothing is shown until the next observation. */
  blank() {
    this.sounds?.silence();
    for (const stimulus of this.stimuli) [stimulus.main, stimulus.dots] = [null, []];
  }

  /** Call a function with the values of each place. */
  groups({ main, places, values, kind }, call) {
    const shown = values.place_by ? (values.place_by.some((x) => x > SEEN) ? [places[last(values.place_by)]] : []) : places;
    const n = shown.length, size = main.length % n || main.length < n ? main.length : main.length / n;
    const whole = WHOLE.has(kind) && n === 1 ? main.length : size;
    shown.forEach((at, place) => {
      const first = (place * whole) % main.length;
      call(main.slice(first, first + whole), place, at, first);
    });
  }

  draw(now) {
    const passed = this.now === undefined ? 0 : Math.min(now - this.now, 50);
    this.now = now;
    const { pen } = this;
    pen.setTransform?.(PIXELS, 0, 0, -PIXELS, (WIDTH * PIXELS) / 2, (HEIGHT * PIXELS) / 2);
    pen.globalAlpha = 1;
    pen.fillStyle = BACK;
    pen.fillRect(-WIDTH / 2, -HEIGHT / 2, WIDTH, HEIGHT);
    for (const stimulus of this.stimuli) {
      stimulus.passed = passed;
      if (!stimulus.main) continue;
      if (stimulus.moving) { this.drawMean(stimulus); continue; }
      this.groups(stimulus, (values, place, [x, y], first) => {
        pen.save();
        pen.translate(x, y);
        stimulus.draw(pen, values, stimulus, place, first);
        pen.restore();
      });
    }
  }

  /** One stimulus at the mean of its places, with the sum of their values. */
  drawMean(stimulus) {
    const { main, places } = stimulus, sum = main.reduce((all, x) => all + x, 0);
    if (Math.abs(sum) < 1e-6) return;
    const mean = (axis) => main.reduce((all, x, i) => all + x * places[i][axis], 0) / sum;
    this.pen.save();
    this.pen.translate(mean(0), mean(1));
    stimulus.draw(this.pen, [sum], stimulus, 0, 0);
    this.pen.restore();
  }
}

/** A vertical grating in a Gaussian window, at full contrast. */
function gratingImage() {
  const n = 256, made = Object.assign(document.createElement("canvas"), { width: n, height: n });
  const pen = made.getContext("2d"), image = pen.createImageData(n, n);
  for (let i = 0; i < n * n; i++) {
    const [x, y] = [(i % n) / n - 0.5, Math.floor(i / n) / n - 0.5];
    const light = Math.sin(2 * Math.PI * 10 * x) > 0 ? 128 : 0;
    image.data.set([light, light, light, 255 * Math.exp(-(x * x + y * y) / (2 * 0.14 ** 2))], 4 * i);
  }
  pen.putImageData(image, 0, 0);
  return made;
}

/** The channels that no stimulus shows. */
function channelsLeft({ channels }, { stimuli }) {
  const shown = new Set(stimuli.flatMap((one) => [one.channel, one.colour_by, one.count_by, one.place_by]));
  return channels.filter(({ name }) => !shown.has(name));
}

/** The view that a person sees: the stimuli, and lamps for channels that none of them shows. */
export class StimulusView {
  constructor(host, trials, view, own) {
    host.replaceChildren();
    const canvas = element("canvas", { width: WIDTH * PIXELS, height: HEIGHT * PIXELS, className: "stage" });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "The stimuli of the task");
    let image;
    this.stage = new Stage(canvas.getContext("2d"), view, trials.channels, { sounds: new Sounds(), grating: () => (image ??= gratingImage()), own });
    host.append(canvas);
    const left = channelsLeft(trials, view);
    if (left.length) {
      const lamps = element("div", { className: "lamps" });
      host.append(lamps);
      this.lamps = new View(lamps, { ...trials, channels: left });
    }
    this.clear();
  }

  show(seen, exact, now = performance.now()) {
    this.stage.take(seen, exact);
    this.stage.draw(now);
    this.lamps?.show(seen);
  }

  /** Draw the dots of a frame of the screen. */
  tick(now) { if (this.stage.moves) this.stage.draw(now); }

  /** Let no sound go on; the picture stays. */
  pause() { this.stage.sounds.silence(); }

  clear() {
    this.stage.blank();
    this.stage.draw(0);
  }
}

/** The view of a page: that of the manifest, or a lamp for each input of the network. */
export function viewOf(host, trials, view, own) {
  return view ? new StimulusView(host, trials, view, own) : new View(host, trials);
}

/** Load the drawings of packages that a view names. */
export async function drawingsOf(view) {
  const names = view?.modules ?? [];
  const loaded = await Promise.all(names.map((name) => import(`./view-${name}.js`)));
  return Object.fromEntries(names.map((name, i) => [name, loaded[i].draw]));
}

/** The caption of the view. */
export function captionOf(view) {
  if (!view) return "Inputs of the network";
  const without = view.noiseless.map((name) => name.replaceAll("_", " "));
  return without.length ? `Stimuli, without the noise of the network's inputs (${without.join(", ")})` : "Stimuli";
}

/** How often a second the lamps can change within a period. */
function mostChanges({ segments, frames, dt }) {
  const changes = segments.sd.rows.some((row) => row.some(Boolean)) || frames.script.rows.length;
  return changes ? 1000 / dt : 0;
}

/** A sentence about flicker; "" without it. */
export function flickerOf({ trials, view }) {
  if (view?.flashes > MOST_FLASHES) return `The stimuli can flash ${Math.round(view.flashes)} times a second.`;
  if (view && !channelsLeft(trials, view).length) return "";
  const changes = trials.door ? trials.changes : mostChanges(trials);
  return changes > MOST_FLASHES ? `The lamps can change ${Math.round(changes)} times a second.` : "";
}
