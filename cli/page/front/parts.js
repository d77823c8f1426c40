// The sections that are no table. Each takes its part of the data and a place.
function showVerdict(data, place) {
  const {verdict, rows, doubts} = data;
  if (verdict) {
    place.append(paragraph("lead text" + (verdict.alarm ? " bad" : ""), verdict.words));
    if (verdict.reason) place.append(sentence("", verdict.reason));
    if (verdict.evidence) place.append(sentence("dim", verdict.evidence));
  } else {
    place.append(sentence("lead", data.nothing));
  }
  for (const row of rows)
    place.append(make(
        "div", {class: "row" + (row.alarm ? " alarm" : "")},
        make(
            "p", {}, make("span", {class: "label" + (row.alarm ? " bad" : "")}, row.label),
            make("span", {class: "text"}, row.text + (row.line ? `, at ${row.line}` : ""))),
        make("p", {}, "→ ", command(row.command))));
  if (verdict && verdict.advice)
    place.append(make(
        "div", {class: "row info"}, make("p", {}, make("span", {class: "label"}, "What to do")),
        sentence("", verdict.advice)));
  if (data.next.length)
    place.append(make(
        "p", {},
        "Next: ", ...data.next.flatMap((next, i) => [i ? ", " : "", command(next.command), ` (${next.why})`])));
  doubts.forEach((text) => place.append(sentence("remark", text)));
}

function showFacts(facts, place) {
  place.append(make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])));
}

function showRun(data, place) {
  showFacts(data.facts, place);
  data.remarks.forEach((text) => place.append(sentence("remark", text)));
}

function showTimeline(data, place, old) {
  const tracks = timelineTracks(data), notes = make("div"), view = make("div"), remarks = make("div");
  const shown = old || {notes, view, remarks, timeline: null};
  if (!old) place.append(notes, view, remarks);
  shown.notes.replaceChildren(...data.notes.map((text) => sentence("nothing", text)));
  shown.remarks.replaceChildren(...data.remarks.map((text) => sentence("remark", text)));
  if (shown.timeline) shown.timeline.update(data, tracks);
  else if (tracks.length) {
    shown.timeline = new Timeline(data, tracks, shown.view);
    if (SERVED) new CallLanes(shown.timeline, shown.view);
  }
  return shown;
}

// Memory over time, a picture for each process and kind.
function showMemory(data, place) {
  if (data.nothing) return place.append(sentence("nothing", data.nothing));
  data.series.forEach((series) => {
    place.append(make("h3", {}, memoryName(series)), paragraph("", series.words));
    if (series.points.length < 2) return;
    const width = Math.max(700, place.clientWidth), tall = 110, span = Math.max(1, data.to - data.from),
          x = (t) => 90 + ((t - data.from) / span) * (width - 100);
    const y = (value) => 8 + tall - (tall * value) / Math.max(1, series.most);
    const path = series.points
                     .map(
                         ([t, value], i) => `${i ? "" : `M${x(t)} ${y(0)}`}L${x(t)} ${y(value)}H${
                             x(i + 1 < series.points.length ? series.points[i + 1][0] : data.to)}`)
                     .join("") +
        `V${y(0)}z`;
    place.append(draw(
        "svg", {
          class: "chart",
          viewBox: `0 0 ${width} ${tall + 30}`,
          role: "img",
          "aria-label": `${memoryName(series)}: ${series.words}`
        },
        draw("path", {d: path, fill: "var(--bar)", stroke: "var(--green)", "stroke-width": 1.5}),
        draw("line", {class: "axis", x1: 90, x2: width - 10, y1: y(0), y2: y(0)}),
        draw("text", {x: 82, y: 18, "text-anchor": "end"}, bytes(series.most)),
        draw("text", {x: 90, y: tall + 24}, moment(data.from)),
        draw("text", {x: width - 10, y: tall + 24, "text-anchor": "end"}, moment(data.to)),
        draw("path", {d: `M${x(series.peak_at) - 5} 0h10l-5 8z`, fill: "var(--orange)"})));
  });
  data.remarks.forEach((text) => place.append(sentence("remark", text)));
}

// A bar for each step; slow ones are orange, outlined and have a triangle.
function showSteps(data, place) {
  if (!data.steps.length) return place.append(sentence("nothing", data.nothing));
  const width = Math.max(700, place.clientWidth), tall = 130, most = Math.max(...data.steps.map((s) => s.duration)),
        wide = (width - 100) / data.steps.length;
  const slow = data.steps.filter((s) => s.slow).length;
  place.append(paragraph(
      "",
      `${plural(data.steps.length, "step")}, ${
          slow ? plural(slow, "slow one") : "none slow"} (more than 1.5 times the median of its thread)`));
  const bars = data.steps.map(
      (s, i) => draw(
          "g", {}, draw("title", {}, `step ${s.name}: ${duration(s.duration)}${s.slow ? ", slow" : ""}`),
          draw("rect", {
            x: 90 + i * wide,
            y: 22 + tall - (tall * s.duration) / most,
            width: Math.max(0.6, wide - (wide > 4 ? 1 : 0)),
            height: Math.max(1, (tall * s.duration) / most),
            fill: s.slow ? "var(--orange)" : "var(--blue)",
            stroke: s.slow && wide > 4 ? "var(--text)" : "none"
          }),
          s.slow ? draw("path", {d: `M${90 + (i + 0.5) * wide - 5} 8h10l-5 8z`, fill: "var(--orange)"}) : null));
  place.append(
      draw(
          "svg",
          {class: "chart", viewBox: `0 0 ${width} ${tall + 46}`, role: "img", "aria-label": "duration of each step"},
          ...bars, draw("text", {x: 82, y: 34, "text-anchor": "end"}, duration(most)),
          draw("text", {x: 90, y: tall + 40}, data.steps[0].name),
          draw("text", {x: width - 10, y: tall + 40, "text-anchor": "end"}, data.steps[data.steps.length - 1].name)),
      make("p", {class: "legend"}, make("span", {}, "▼ slow"), command(data.command)));
  data.remarks.forEach((text) => place.append(sentence("remark", text)));
}

function showFindings(data, place) {
  if (!data.rows.length) place.append(sentence("nothing", data.nothing));
  for (const row of data.rows)
    place.append(make(
        "div", {class: `row ${row.severity}`},
        make(
            "p", {}, make("span", {class: "label"}, row.severity),
            make("strong", {class: "text"}, `${row.finding}  `), make("span", {class: "text"}, row.subject)),
        sentence("", row.text), row.advice ? make("p", {}, "→ ", make("span", {class: "text"}, row.advice)) : null));
  if (data.remark) place.append(sentence("remark", data.remark));
}

function showLines(data, place) {
  data.lines.forEach((text) => place.append(sentence("", text)));
  data.remarks.forEach((text) => place.append(sentence("remark", text)));
}
