// The generic view: a lamp for each input of the network.

const SVG = "http://www.w3.org/2000/svg";

/** A new element of SVG, with attributes and children. */
export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A new element of HTML, with properties and children. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export class View {
  /** Draw lamps for the channels of some trials into a host element. */
  constructor(host, trials) {
    host.replaceChildren();
    this.lamps = [];
    for (const channel of trials.channels) {
      const scale = trials.largest?.[channel.name] ?? largest(trials, channel), places = layout(channel);
      const { radius, box } = places;
      const svg = drawn("svg", { viewBox: box.join(" "), width: box[2], "aria-hidden": "true" });
      for (const [i, [x, y]] of places.at.entries()) {
        const light = drawn("circle", { cx: x, cy: y });
        const name = channel.names?.[i] ?? "";
        svg.append(drawn("circle", { cx: x, cy: y, r: radius, class: "lamp" }, drawn("title", {}, name)), light);
        if (places.named) svg.append(drawn("text", { x, y: y + radius + 14 }, name));
        this.lamps.push({ light, scale, radius, unit: channel.start + i });
      }
      const name = element("div", { textContent: channel.name.replaceAll("_", " ") });
      host.append(element("div", { className: "channel" }, svg, name));
    }
  }

  /** A lamp changes with a step, not between two. */
  tick() {}

  /** Lamps make no sound. */
  pause() {}

  /** The last observation stays until the next one. */
  clear() {}

  /** Show an observation. */
  show(seen) {
    this.lamps.forEach(({ light, scale, radius, unit }) => {
      const value = Math.min(Math.max(seen[unit] / scale, -1), 1), size = Math.abs(value);
      light.setAttribute("r", radius * Math.sqrt(size) * 0.94);
      light.setAttribute("fill", value < 0 ? "#5ab0ff" : "#ffd84d");
      light.setAttribute("fill-opacity", 0.25 + 0.75 * size);
    });
  }
}

/** The largest value of a channel, with the noise. */
function largest(trials, { start, stop }) {
  const most = ({ rows }) => rows.reduce((high, row) =>
    row.slice(start, stop).reduce((one, x) => Math.max(one, Math.abs(x)), high), 0);
  const shown = Math.max(most(trials.segments.shown), most(trials.frames.script));
  return shown + most(trials.segments.sd) || 1;
}

/** The places of the lamps of a channel: rings as circles, other channels as rows. */
function layout({ kind, size, names }) {
  const longest = Math.max(0, ...(names ?? []).map((name) => name.length));
  let at, radius, named;
  if (kind === "Ring" && size > 1) {
    radius = Math.min(20, 200 / size);
    named = size <= 8;
    at = Array.from({ length: size }, (_, k) => (2 * Math.PI * k) / size)
      .map((angle) => [90 * Math.cos(angle), -90 * Math.sin(angle)]);
  } else {
    const across = Math.min(size, size > 32 ? 16 : 8);
    radius = size === 1 ? 28 : size > 32 ? 8 : 18;
    named = size > 1 && size <= 16 && longest <= 9;
    const [dx, dy] = named ? [2 * radius + 30, 2 * radius + 24] : [2 * radius + 6, 2 * radius + 6];
    at = Array.from({ length: size }, (_, k) => [dx * (k % across), dy * Math.floor(k / across)]);
  }
  // The box around all lamps, with room for the names.
  const side = radius + 4 + (named ? Math.max(0, 3.5 * longest - radius) : 0), below = radius + (named ? 20 : 4);
  const [xs, ys] = [at.map(([x]) => x), at.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs) - side, Math.min(...ys) - radius - 4];
  const [width, height] = [Math.max(...xs) + side - left, Math.max(...ys) + below - top];
  return { at, radius, named, box: [left, top, width, height] };
}
