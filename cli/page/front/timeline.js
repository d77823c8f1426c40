// The whole run on one axis. The wheel with Ctrl, + and - zoom, dragging and the arrows move, 0 shows all.
const LEFT = 150, RIGHT = 16, TALL = 64, FLAT = 22, GAP = 12;
const PAPER = 720;  // pixels of a page of A4

const niceStep = (wish) => {
  const power = 10 ** Math.floor(Math.log10(wish));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wish);
};

const narrow = (name) => (name.length > 21 ? `${name.slice(0, 20)}…` : name);

// A point in time with as many digits as tell it from the next mark.
function mark(time, step) {
  if (time === 0) return "0 s";
  if (step * 300 > Math.abs(time)) return duration(time);
  return `${(time * 1e-9).toFixed(Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step)))))} s`;
}

class Timeline {
  constructor(data, tracks, place) {
    this.data = data;
    this.tracks = tracks;
    this.more = [];  // tracks of a server, below the others
    this.least = 0;  // ns that may be seen at least
    this.seen = () => {};
    this.picked = () => {};
    this.whole = [data.from, Math.max(data.to, data.from + 1)];
    [this.from, this.to] = this.whole;
    this.width = PAPER;
    this.svg = draw("svg", {role: "img", "aria-label": "timeline of the run"});
    this.readout = paragraph("readout mono", " ");
    this.frame = make(
        "div", {
          class: "timeline",
          tabindex: 0,
          role: "application",
          "aria-label": "timeline: plus and minus zoom, arrows move, 0 shows all"
        },
        this.svg);
    const button = (label, name, act) => make("button", {type: "button", "aria-label": name, onclick: act}, label);
    place.append(
        make(
            "div", {class: "tools"}, button("+", "zoom in", () => this.zoom(0.5)),
            button("−", "zoom out", () => this.zoom(2)), button("←", "earlier", () => this.move(-0.25)),
            button("→", "later", () => this.move(0.25)), button("all", "show the whole run", () => this.reset()),
            make("span", {class: "dim"}, "drag to move, Ctrl and the wheel to zoom; keys + − ← → 0")),
        this.frame, this.readout);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.frame);
    addEventListener("beforeprint", () => this.draw(PAPER));
    addEventListener("afterprint", () => this.draw());
    this.draw();
  }
  x(time) { return LEFT + ((time - this.from) / (this.to - this.from)) * (this.width - LEFT - RIGHT); }
  time(x) { return this.from + ((x - LEFT) / (this.width - LEFT - RIGHT)) * (this.to - this.from); }
  see(from, to) {
    const [first, last] = this.whole, least = this.least || (last - first) / 5e4;
    const span = Math.min(last - first, Math.max(to - from, least, 1));
    this.from = Math.max(first, Math.min(from, last - span));
    this.to = this.from + span;
    this.draw();
    this.seen();
  }
  // New data of a recording that goes on: a view of all of it stays one.
  update(data, tracks) {
    const all = this.from === this.whole[0] && this.to === this.whole[1];
    this.data = data;
    this.tracks = tracks;
    this.whole = [data.from, Math.max(data.to, data.from + 1)];
    if (all) this.reset();
    else this.see(this.from, this.to);
  }
  // What lies under a click: a call, or several that are drawn as one.
  pick(node) {
    const about = node && node.dataset ? node.dataset : {};
    if (about.call) return this.picked(Number(about.call));
    if (!about.from) return;
    const from = Number(about.from), to = Number(about.to), beside = (to - from) / 5;
    this.see(from - beside, to + beside);
  }
  reset() { this.see(...this.whole); }
  zoom(factor, at = (this.from + this.to) / 2) {
    this.see(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }
  move(part) {
    const by = (this.to - this.from) * part;
    this.see(this.from + by, this.to + by);
  }
  listen() {
    const keys = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      ArrowLeft: () => this.move(-0.25),
      ArrowRight: () => this.move(0.25),
      0: () => this.reset(),
      Home: () => this.reset()
    };
    const offset = (event) => event.clientX - this.frame.getBoundingClientRect().left;
    this.frame.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target !== this.frame) return this.pick(event.target);
      if (keys[event.key]) {
        event.preventDefault();
        keys[event.key]();
      }
    });
    this.frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.7 : 1.4, this.time(offset(event)));
    }, {passive: false});
    let held = null;
    this.frame.addEventListener("pointerdown", (event) => {
      held = {x: event.clientX, from: this.from, to: this.to};
      this.frame.setPointerCapture(event.pointerId);
    });
    this.frame.addEventListener("pointerup", (event) => {
      const clicked = held && Math.abs(event.clientX - held.x) < 4;
      held = null;
      if (clicked) this.pick(document.elementFromPoint(event.clientX, event.clientY));
    });
    this.frame.addEventListener("pointermove", (event) => {
      if (!held) return this.read(this.time(offset(event)), event.target);
      const by = ((event.clientX - held.x) / (this.width - LEFT - RIGHT)) * (held.to - held.from);
      this.see(held.from - by, held.to - by);
    });
    this.frame.addEventListener("dblclick", (event) => this.zoom(0.4, this.time(offset(event))));
  }
  read(time, node) {
    if (time < this.from || time > this.to) return;
    if (node && node.dataset && node.dataset.say) {
      this.readout.textContent = node.dataset.say;
      return;
    }
    const words = this.tracks.map((track) => track.say(time)).filter(Boolean);
    this.readout.textContent = [moment(time), ...words].join("  ·  ");
  }
  draw(width = this.frame.clientWidth) {
    this.width = Math.max(320, width);
    const all = [...this.tracks, ...this.more], tallOf = (track) => track.tall || (track.flat ? FLAT : TALL);
    const height = all.reduce((sum, track) => sum + tallOf(track) + GAP, 30);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.svg.setAttribute("height", height);
    const clip =
        draw("clipPath", {id: "inside"}, draw("rect", {x: LEFT, y: 0, width: this.width - LEFT - RIGHT, height}));
    const parts = [clip];
    let y = 8;
    for (const track of all) {
      const tall = tallOf(track);
      parts.push(
          draw(
              "text", {class: "name", x: 8, y: y + 13, style: {fontSize: track.name.length > 19 ? "11px" : ""}},
              draw("title", {}, track.about || track.name), narrow(track.name)),
          ...this.scaleOf(track, y),
          draw("line", {class: "axis", x1: LEFT, x2: this.width - RIGHT, y1: y + tall, y2: y + tall}),
          draw("g", {"clip-path": "url(#inside)"}, ...track.draw(this, y, tall)));
      y += tall + GAP;
    }
    this.svg.replaceChildren(...parts, ...this.axis(y));
  }
  scaleOf(track, y) { return track.scale ? [draw("text", {x: 8, y: y + 30}, track.scale)] : []; }
  axis(y) {
    const step = niceStep((this.to - this.from) / Math.max(2, (this.width - LEFT) / 130)), out = [];
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step)
      out.push(
          draw("line", {class: "axis", x1: this.x(t), x2: this.x(t), y1: 4, y2: y}),
          this.x(t) < this.width - 70 ? draw("text", {x: this.x(t) + 3, y: y + 14}, mark(t, step)) : null);
    return out.filter(Boolean);
  }
}
