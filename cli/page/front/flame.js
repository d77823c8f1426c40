// The flame graph, outermost frames on top. A click makes a frame as wide as the graph; the field marks frames.
const FRAME_TALL = 20, DEEPEST = 300, NARROWEST = 2.5;
const isPython = (label) => /\([^()]*:(\d+|\?)\)$/.test(label);

function flameTree(weight, stacks, frames, how) {
  const root = {label: "all", weight: 0, children: new Map(), parent: null};
  for (const [stack, amount] of how === "own" ? weight.own : weight.all) {
    const ids = stacks[stack], last = ids.length - 1;
    let node = root;
    root.weight += amount;
    ids.forEach((id, i) => {
      const label = frames[id];
      if (how === "python" && i !== last && !isPython(label)) return;
      let child = node.children.get(label);
      if (!child)
        node.children.set(label, (child = {label, weight: 0, children: new Map(), parent: node, leaf: i === last}));
      child.weight += amount;
      node = child;
    });
  }
  const rest = how === "own" ? weight.rest : weight.rest_all;
  const left_out = how === "own" ? weight.left_out : weight.left_out_all;
  if (rest > 0) {
    root.children.set("", {
      label: `(${count(left_out)} lighter stacks, not in this page)`,
      weight: rest,
      children: new Map(),
      parent: root,
      leaf: true
    });
    root.weight += rest;
  }
  return root;
}

class Flame {
  // old: the graph of the data before, whose choices stay.
  constructor(data, place, old) {
    this.data = data;
    this.at = old ? old.at : 0;
    this.how = old ? old.how : "own";
    this.word = old ? old.word : "";
    this.title = paragraph("");
    this.said = paragraph("readout mono", " ");
    this.remark = make("div");
    this.graph = make("div", {class: "flame", role: "group", "aria-label": "flame graph"});
    const search = make("input", {
      type: "search",
      placeholder: "search frames",
      "aria-label": "search frames",
      value: this.word || null,
      oninput: () => {
        this.word = search.value.toLowerCase();
        this.draw();
      }
    });
    const hows = ["own", "all", "python"], labels = ["without system frames", "all frames", "Python only"];
    place.append(
        make(
            "div", {class: "tools"},
            ...choice(
                data.weights.map((weight) => weight.id), this.at,
                (i) => {
                  this.at = i;
                  this.build();
                })),
        make(
            "div", {class: "tools"},
            ...choice(
                labels, hows.indexOf(this.how),
                (i) => {
                  this.how = hows[i];
                  this.build();
                }),
            search,
            make(
                "button", {
                  type: "button",
                  onclick: () => {
                    this.zoomed = this.root;
                    this.draw();
                  }
                },
                "show all"),
            command(data.command)),
        this.title, this.graph, this.said, this.remark);
    new ResizeObserver(() => this.draw()).observe(place);
    this.build();
    if (old) this.zoomTo(old.zoomed);
  }
  // The same frame as in the graph before, if it is still there.
  zoomTo(before) {
    const labels = [];
    for (let node = before; node && node.parent; node = node.parent) labels.unshift(node.label);
    let node = this.root;
    for (const label of labels) node = node && node.children.get(label);
    if (node) this.zoomed = node;
    this.draw();
  }
  get weight() { return this.data.weights[this.at]; }
  amount(n) { return NUMBERS[this.weight.unit](n); }
  build() {
    this.root = this.zoomed = flameTree(this.weight, this.data.stacks, this.data.frames, this.how);
    this.remark.replaceChildren(
        ...[this.weight.remark, this.weight.doubt].filter(Boolean).map((text) => sentence("remark", text)));
    this.draw();
  }
  draw() {
    const width = this.graph.clientWidth || 900;
    if (!this.root.weight) {
      this.graph.hidden = true;
      this.title.replaceChildren(sentence("nothing", this.weight.nothing));
      return;
    }
    this.graph.hidden = false;
    this.title.textContent = `${this.amount(this.root.weight)} ${this.weight.title}`;
    const bars = [], above = [];
    for (let node = this.zoomed.parent; node; node = node.parent) above.unshift(node);
    this.width = width;
    above.forEach((node, depth) => bars.push(this.bar(node, depth, 0, width, true)));
    this.deepest = above.length;
    this.put(bars, this.zoomed, above.length, 0, width);
    this.graph.replaceChildren(...bars);
    this.graph.style.height = `${(this.deepest + 1) * FRAME_TALL + 2}px`;
    this.tellFound();
  }
  put(bars, top, depth, left, width) {
    const open = [[top, depth, left, width]];
    while (open.length) {
      const [node, level, x, wide] = open.pop();
      bars.push(this.bar(node, level, x, wide, false));
      this.deepest = Math.max(this.deepest, level);
      let at = x;
      for (const child of [...node.children.values()].sort((a, b) => b.weight - a.weight)) {
        const w = (wide * child.weight) / node.weight;
        if (w >= NARROWEST && level < DEEPEST) open.push([child, level + 1, at, w]);
        at += w;
      }
    }
  }
  kind(node) {
    if (this.word && node.label.toLowerCase().includes(this.word)) return "found";
    if (node === this.root) return "place";
    return isPython(node.label) ? "python" : node.leaf ? "call" : "native";
  }
  bar(node, level, left, width, faded) {
    const share = `${fixed((100 * node.weight) / this.root.weight, 1)} %`,
          text = `${node.label}: ${this.amount(node.weight)}, ${share}`,
          percent = (part) => `${(100 * part) / this.width}%`;  // of the graph, which is narrower on paper
    return make(
        "button", {
          type: "button",
          class: this.kind(node) + (faded ? " faded" : ""),
          "aria-label": text,
          style: {left: percent(left), top: `${level * FRAME_TALL}px`, width: percent(width)},
          onmouseenter: () => {
            this.said.textContent = text;
          },
          onfocus: () => {
            this.said.textContent = text;
          },
          onclick: () => {
            this.zoomed = node;
            this.draw();
          }
        },
        width > 24 ? node.label : "");
  }
  // What frames with the word hold; a frame below one that was counted is not counted again.
  tellFound() {
    if (!this.word) return;
    let sum = 0;
    const open = [this.root];
    while (open.length) {
      const node = open.pop();
      if (node !== this.root && node.label.toLowerCase().includes(this.word)) sum += node.weight;
      else open.push(...node.children.values());
    }
    this.said.textContent = `found: ${this.amount(sum)}, ${fixed((100 * sum) / this.root.weight, 1)} % of all`;
  }
}
