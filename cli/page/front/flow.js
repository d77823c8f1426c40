// Who called whom: the program, CUDA's interface (ZLUDA), HIP, the driver. The numbers stand on the edges.
const BOX = {
  width: 190,
  height: 46
},
      FLOW_TALL = 92;

const API_NAMES = {
  hip: "HIP",
  hiprtc: "HIP RTC",
  cuda: "CUDA",
  cudart: "CUDA runtime",
  nvml: "NVML",
  user: "your functions",
  roctx: "ranges (roctx)"
};
const COLUMN = {
  program: 0,
  user: 0.85,
  cudart: 0.85,
  cuda: 1.4,
  nvml: 1.4,
  roctx: 1.4,
  hip: 2.3,
  hiprtc: 2.3,
  driver: 3.2
};

function flowNodes(data) {
  const names = new Set(["program"]);
  for (const edge of data.edges) {
    names.add(edge.from);
    names.add(edge.to);
  }
  if (names.has("hip")) names.add("driver");
  const columns = new Map();
  const nodes = new Map();
  for (const name of names) {
    const column = COLUMN[name] ?? 1.4, row = columns.get(column) || 0;
    columns.set(column, row + 1);
    const role = data.roles.find((r) => r.api === name);
    nodes.set(name, {
      name,
      column,
      row,
      label: name === "program" ? "the program" :
          name === "driver"     ? "the driver" :
                                  API_NAMES[name] || name,
      below: name === "driver" ? "not watched" :
          role                 ? role.name :
                                 ""
    });
  }
  return nodes;
}

function flowBox(node) {
  return draw(
      "g", {}, draw("rect", {
        x: node.x,
        y: node.y,
        width: BOX.width,
        height: BOX.height,
        rx: 6,
        fill: "var(--card)",
        stroke: node.name === "driver" ? "var(--dim)" : "var(--blue)",
        "stroke-dasharray": node.name === "driver" ? "4 4" : "none"
      }),
      draw(
          "text", {x: node.x + 10, y: node.y + 20, style: {fill: "var(--text)", fontWeight: 600, fontSize: "14px"}},
          node.label),
      draw(
          "text", {x: node.x + 10, y: node.y + 37},
          node.below.length > 26 ? "…" + node.below.slice(-25) : node.below));
}

// Where an edge runs, and where its words stand. One that passes a column goes below it.
function flowPath(from, to) {
  const half = BOX.height / 2, x1 = from.x + BOX.width, y1 = from.y + half, x2 = to.x, y2 = to.y + half;
  if (from === to)
    return {path: `M${from.x + 50} ${from.y}c0 -34 70 -34 70 0`, x: from.x + 125, y: from.y - 12, anchor: "start"};
  if (from.x === to.x) {
    const x = from.x + BOX.width / 2, down = from.y < to.y;
    const path = `M${x} ${from.y + (down ? BOX.height : 0)}L${x} ${to.y + (down ? -4 : BOX.height + 4)}`;
    return {path, x: x + 8, y: (from.y + to.y) / 2 + half - 4, anchor: "start"};
  }
  const bend = Math.max(40, Math.abs(x2 - x1) / 2), low = x2 - x1 > BOX.width ? 80 : 0;
  const path = `M${x1} ${y1}C${x1 + bend} ${y1 + low} ${x2 - bend} ${y2 + low} ${x2 - 6} ${y2}`;
  return {path, x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 8 + low * 0.75, anchor: "middle"};
}

function flowEdge(from, to, edge) {
  const {path, x, y, anchor} = flowPath(from, to);
  const failed = edge && edge.errors ? `✕ ${count(edge.errors)} failed` : "";
  const stroke = failed ? "var(--bad)" : edge ? "var(--blue)" : "var(--dim)";
  const width = edge ? 1 + Math.min(5, Math.log10(edge.calls + 1)) : 1;
  const line = {d: path, fill: "none", stroke, "stroke-width": width, "stroke-dasharray": edge ? "none" : "4 4"};
  const words = (text, at, style) => draw("text", {x, y: at, "text-anchor": anchor, class: "over", style}, text);
  return draw(
      "g", {}, draw("path", {...line, "marker-end": "url(#arrow)"}),
      words(edge ? plural(edge.calls, "call") : "?", y, {fill: "var(--text)"}),
      failed ? words(failed, y + 26, {fill: "var(--bad)", fontWeight: 600}) : null);
}

function drawFlow(data, place) {
  if (!data.edges.length) return place.append(sentence("nothing", data.nothing));
  const nodes = flowNodes(data), all = [...nodes.values()];
  const columns = [...new Set(all.map((node) => node.column))].sort((a, b) => a - b);
  const rows = Math.max(...all.map((node) => all.filter((other) => other.column === node.column).length));
  for (const node of all) {
    const beside = all.filter((other) => other.column === node.column).length;
    node.x = 10 + columns.indexOf(node.column) * (BOX.width + 150);
    node.y = 40 + (node.row + (rows - beside) / 2) * FLOW_TALL;
  }
  const width = columns.length * (BOX.width + 150) - 120, height = rows * FLOW_TALL + 40;
  const arrow = draw(
      "marker", {
        id: "arrow",
        viewBox: "0 0 8 8",
        refX: 6,
        refY: 4,
        markerWidth: 8,
        markerHeight: 8,
        markerUnits: "userSpaceOnUse",
        orient: "auto"
      },
      draw("path", {d: "M0 0L8 4L0 8z", fill: "var(--dim)"}));
  const edges = data.edges.map((edge) => flowEdge(nodes.get(edge.from), nodes.get(edge.to), edge));
  if (nodes.has("driver")) edges.push(flowEdge(nodes.get("hip"), nodes.get("driver"), null));
  const words = data.edges
                    .map(
                        (edge) => `${nodes.get(edge.from).label} to ${nodes.get(edge.to).label}: ${
                            plural(edge.calls, "call")}, ${count(edge.errors)} failed`)
                    .join("; ");
  place.append(
      draw(
          "svg",
          {viewBox: `0 0 ${width} ${height}`, style: {maxWidth: `${width}px`}, role: "img", "aria-label": words},
          draw("defs", {}, arrow), ...edges, ...all.map(flowBox)),
      paragraph("dim", "fade counts calls of watched functions. What HIP asks of the driver is not watched."));
  if (data.remark) place.append(sentence("remark", data.remark));
}
