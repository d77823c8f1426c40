// Single calls on the timeline, as far as the view has room for them, and the panel with one call.
const CALL_TALL = 15, MOST_DEPTH = 12, SOON = 90;
const CALL_COLOURS = ["--blue", "--green", "--pink", "--sky", "--yellow"];

// One colour for one name.
function callColour(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return `var(${CALL_COLOURS[sum % CALL_COLOURS.length]})`;
}

function workWords(item) {
  if (item.n > 1) return `${moment(item.start)}  ·  ${count(item.n)} works within ${duration(item.length)}`;
  const from = item.id ? `of call ${item.id}` : "of no known call";
  return `${moment(item.start)}  ·  ${item.name}: ${duration(item.length)} on the GPU, ${from}`;
}

function callWords(item) {
  if (item.work) return workWords(item);
  const failed = item.errors ? `, ✕ ${count(item.errors)} failed` : "";
  if (item.n > 1) return `${moment(item.start)}  ·  ${count(item.n)} calls within ${duration(item.length)}${failed}`;
  return `${moment(item.start)}  ·  ${item.name}: ${duration(item.length)}${failed}  ·  call ${item.id}`;
}

function drawItem(view, item, y) {
  const left = Math.max(LEFT - 2, view.x(item.start)), right = Math.min(view.width, view.x(item.start + item.length));
  const width = Math.max(1, right - left - 0.4), room = Math.floor((width - 6) / 6.6);
  const fill = item.errors ? "var(--bad)" : callColour(item.name);
  const call = item.id ? {"data-call": item.id, tabindex: width > 6 ? 0 : null, role: "button"} : {};
  const about = item.n > 1 ? {"data-from": item.start, "data-to": item.start + item.length} : call;
  const words = callWords(item), top = y + Math.min(item.depth, MOST_DEPTH - 1) * CALL_TALL;
  const box = draw(
      "rect", {
        ...about,
        class: "call",
        x: left,
        y: top,
        width,
        height: CALL_TALL - 1.5,
        fill,
        opacity: item.n > 1 ? 0.5 : 0.9,
        "aria-label": words,
        "data-say": words
      });
  if (room < 4) return [box];
  const several = `${count(item.n)} ${item.work ? "works" : "calls"}`;
  const text = item.n > 1 ? several : (item.errors ? "✕ " : "") + item.name;
  const label = text.length > room ? `${text.slice(0, room - 1)}…` : text;
  return [box, draw("text", {class: "callname", x: left + 3, y: top + 10.5}, label)];
}

// A thread or a stream with its calls, or a queue of a GPU with its works.
function callTrack(lane, names, work = false) {
  const item = ([id, start, length, name, depth, n, errors]) =>
      ({id, start, length, name: names[name], depth, n, errors, work});
  const items = lane.items.map(item);
  return {
    name: lane.name,
    about: lane.about,
    tall: Math.max(22, Math.min(lane.depth, MOST_DEPTH) * CALL_TALL),
    scale: "",
    draw: (view, y) => items.filter((item) => item.start + item.length >= view.from && item.start <= view.to)
                           .flatMap((item) => drawItem(view, item, y)),
    say: () => ""
  };
}

function columnTrack(lane, width) {
  const per = (n) => `${count(Math.round(n / (width / 1e9)))} calls/s`;
  return barTrack(lane.name, lane.columns, width, "var(--blue)", (n) => plural(n, "call"), per);
}

class CallLanes {
  constructor(timeline, place) {
    this.timeline = timeline;
    this.words = paragraph("dim", " ");
    this.works = paragraph("dim");
    this.trace = make("code");
    this.link = make("a", {download: "trace.pftrace"}, "this view as a trace");
    this.panel = new CallPanel();
    place.append(this.words, this.works, paragraph("dim", "For ui.perfetto.dev: ", this.link, ", or ", this.trace));
    timeline.least = 200;
    timeline.picked = (id) => this.panel.open(id);
    timeline.seen = () => this.soon();
    this.soon();
  }
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), SOON);
  }
  // A request that is no longer wanted ends, and so does the server's work for it.
  async read() {
    if (this.asked) this.asked.abort();
    const asked = (this.asked = new AbortController()), {from, to, width} = this.timeline;
    const seen = {from: Math.floor(from), to: Math.ceil(to), width: Math.round(width - LEFT - RIGHT)};
    try {
      const answer = await ask("range.json", seen, asked.signal);
      if (answer.error) throw new Error(answer.error);
      this.show(answer);
    } catch (error) {
      if (error.name !== "AbortError") this.words.textContent = `single calls: ${error.message}`;
    }
  }
  aboutWork(work) {
    if (!work) return "";
    if (!work.single) return `About ${plural(work.works, "work")} of GPUs in this view, too many to draw: zoom in.`;
    const lanes = work.left_out ? ` ${plural(work.left_out, "lane")} with fewer works left out.` : "";
    return `${plural(work.works, "work")} of GPUs in this view: a click shows the call of one.${lanes}`;
  }
  show(answer) {
    const work = answer.work || {lanes: []};
    this.timeline.more = [
      ...answer.lanes.map(
          (lane) => (answer.single ? callTrack(lane, answer.names) : columnTrack(lane, answer.width))),
      ...work.lanes.map((lane) => callTrack(lane, work.names, true))
    ];
    this.works.textContent = this.aboutWork(answer.work);
    const lanes = answer.left_out ? ` ${plural(answer.left_out, "lane")} with fewer calls left out.` : "";
    this.words.textContent = !answer.calls ? "No call began in this view." :
        answer.single ?
        `${plural(answer.calls, "call")} began in this view: a click shows one with its arguments and stack, or ` +
            `zooms to several that are drawn as one.${lanes}` :
        `${plural(answer.calls, "call")} began in this view, too many to draw one by one: zoom in.${lanes}`;
    const at = (ns) => `${(ns * 1e-9).toFixed(6)}s`;
    this.trace.textContent = `${SERVE_COMMAND()} export --format perfetto --from ${at(answer.from)} ` +
        `--to ${at(answer.to)} -o trace.pftrace`;
    this.link.href = `trace.pftrace?from=${answer.from}&to=${answer.to}`;
    this.timeline.draw();
  }
}

// A frame with its place, innermost ones come first.
const frameLine = (frame) => make(
    "li", {class: frame.system ? "dim" : frame.python ? "python" : ""}, make("span", {class: "text"}, frame.label),
    frame.place ? make("span", {class: "place"}, frame.place) : "");

class CallPanel {
  constructor() {
    this.body = make("div");
    this.close = make("button", {type: "button", onclick: () => this.hide()}, "close");
    this.node = make("aside", {id: "call", hidden: true, role: "dialog", "aria-label": "call"}, this.close, this.body);
    document.body.append(this.node);
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.hide();
    });
  }
  hide() { this.node.hidden = true; }
  async open(id) {
    this.wanted = id;
    try {
      const call = await ask("call.json", {id});
      if (this.wanted !== id) return;
      this.body.replaceChildren(...(call.error ? [sentence("nothing", call.error)] : this.about(call)));
    } catch (error) {
      this.body.replaceChildren(sentence("nothing", error.message));
    }
    this.node.hidden = false;
    this.node.scrollTop = 0;
    this.close.focus();
  }
  about(call) {
    const facts = make("div"), given = make("div");
    showFacts(
        [
          ["began", moment(call.start)],
          ["took", call.duration === null ? call.state : duration(call.duration)],
          ["result", call.result || (call.duration === null ? "" : "none")],
          ["kernel", call.launch],
          ["thread", `${call.tid} of process ${call.pid}`],
          ["called from", call.caller],
          ["library", `${call.library} (${call.api})`],
          ["call", String(call.id)]
        ].filter(([, value]) => value),
        facts);
    showFacts(call.args.map(([name, value]) => [name || "arguments", value]), given);
    return [
      make("h2", {class: "text" + (call.failed ? " bad" : "")}, call.failed ? `✕ ${call.name}` : call.name), facts,
      make("h3", {}, "Arguments"), call.args.length ? given : sentence("nothing", "none are in the recording"),
      ...this.around(call), make("h3", {}, call.stack === null ? "Stack" : `Stack ${call.stack}`), ...this.stack(call)
    ];
  }
  around(call) {
    if (!call.around.length) return [];
    return [
      make("h3", {}, "Inside of"),
      ...call.around.map((outer) => make("p", {}, this.outer(outer)))
    ];
  }
  outer(call) {
    const took = call.duration === null ? "" : ` ${duration(call.duration)}`;
    return [make("button", {type: "button", onclick: () => this.open(call.id)}, call.name), took];
  }
  stack(call) {
    if (!call.frames.length) return [sentence("nothing", "no stack of this call was taken: fade-run --stacks")];
    const own = call.frames.filter((frame) => !frame.system), list = make("ol", {class: "stack"});
    const show = (all) => list.replaceChildren(...(all ? call.frames : own).map(frameLine));
    const mixed = own.length > 0 && own.length < call.frames.length;
    show(!mixed);
    if (!mixed) return [list];
    const rest = `and ${plural(call.frames.length - own.length, "frame")} of the system`;
    return [list, toggle(rest, false, (button) => {
              button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
              show(button.getAttribute("aria-pressed") === "true");
            })];
  }
}
