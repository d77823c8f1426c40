// The rows of the timeline: each draws itself between two heights and says what it holds at a moment.

// The index of the last item that begins at or before the time.
function lastBefore(items, time, begin = (item) => item[0]) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (begin(items[middle]) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Amounts in columns of one width: [begin, amount]. A column without an item has none.
function barTrack(name, items, width, color, say, scaleText, top = 0) {
  const most = items.reduce((high, item) => Math.max(high, item[1]), Math.max(1, top));
  return {
    name,
    scale: `most ${scaleText(most)}`,
    draw: (view, y, tall) => items.filter(([t]) => t + width >= view.from && t <= view.to).map(([t, n]) => {
      const left = view.x(t), h = n > 0 ? Math.max(1.5, (tall * n) / most) : 0;
      return draw(
          "rect",
          {x: left, y: y + tall - h, width: Math.max(1, view.x(t + width) - left - 0.4), height: h, fill: color});
    }),
    say: (time) => {
      const i = lastBefore(items, time);
      return say(i >= 0 && time < items[i][0] + width ? items[i][1] : 0);
    },
  };
}

// A value that holds until the next point: [time, value]; null: not known.
function stepTrack(name, points, most, color, say, scale) {
  const y1 = (value, y, tall) => y + tall - (tall * value) / Math.max(1, most);
  return {
    name,
    scale,
    draw: (view, y, tall) => {
      let path = "", open = false;
      points.forEach(([t, value], i) => {
        if (value === null) {
          open = false;
          return;
        }
        const end = i + 1 < points.length ? points[i + 1][0] : view.whole[1];
        path +=
            `${open ? "L" : "M"}${view.x(t).toFixed(1)} ${y1(value, y, tall).toFixed(1)}H${view.x(end).toFixed(1)}`;
        open = true;
      });
      return [draw("path", {d: path, fill: "none", stroke: color, "stroke-width": 1.8})];
    },
    say: (time) => {
      const i = lastBefore(points, time);
      return i >= 0 && points[i][1] !== null ? say(points[i][1]) : "";
    },
  };
}

// Things with a begin and a length: {start, duration, name, slow}. Slow ones are taller, in another colour and
// outlined.
function spanTrack(name, spans, color, what) {
  return {
    name,
    flat: true,
    scale: "",
    draw: (view, y, tall) => spans.filter((s) => s.start + s.duration >= view.from && s.start <= view.to).map((s) => {
      const left = view.x(s.start), wide = Math.max(1, view.x(s.start + s.duration) - left - 0.5);
      return draw("rect", {
        x: left,
        y: y + (s.slow ? 0 : 6),
        width: wide,
        height: tall - (s.slow ? 1 : 7),
        fill: s.slow ? "var(--orange)" : color,
        opacity: 0.85,
        stroke: s.slow ? "var(--text)" : "none"
      });
    }),
    say: (time) => {
      const i = lastBefore(spans, time, (s) => s.start);
      const s = spans[i];
      return s && time <= s.start + s.duration ?
          `${what} ${s.name}: ${duration(s.duration)}${s.slow ? ", slow" : ""}` :
          "";
    },
  };
}

function memoryName(series) {
  const device = series.device === null ? "unknown device" : `device ${series.device}`;
  const what = series.kind === "host" ? "pinned memory" :
      series.kind === "registered"    ? "registered memory" :
      series.kind === "device"        ? device :
                                        `${device} ${series.kind}`;
  return `${what}, pid ${series.pid}`;
}

function memoryTrack(series) {
  return stepTrack(
      memoryName(series), series.points, series.most, "var(--green)",
      (value) => `${memoryName(series)}: ${bytes(value)}`, `most ${bytes(series.most)}`);
}

// Percent of load, from the sensors; a GPU that the driver had suspended has no value.
function gpuTrack(gpu) {
  const points = gpu.points.flatMap(([t, length, busy], i, all) => {
    const next = all[i + 1];
    return next && next[0] <= t + length + 1e6 ? [[t, busy]] : [[t, busy], [t + length, null]];
  });
  return stepTrack(
      `GPU load, ${gpu.name}`, points, 100, "var(--pink)", (value) => `GPU load ${fixed(value, 0)} %, by its sensor`,
      "0 to 100 %");
}

// The share of each column in which the device worked, from the times of its works.
function busyTrack(busy, several) {
  const name = `GPU ${busy.device} busy${several ? `, pid ${busy.pid}` : ""}`;
  const track = barTrack(
      name, busy.points, busy.width, "var(--pink)", (share) => `${name} ${fixed(share, 0)} %`, () => "", 100);
  return {
    ...track,
    about: `${name}: from the times of its works, without counting a moment twice`,
    scale: "0 to 100 %"
  };
}

function timelineTracks(data) {
  const per = (n) => `${count(Math.round(n / (data.width / 1e9)))} calls/s`;
  const tracks = [];
  const errors = data.calls.filter((row) => row[2] > 0).map(([t, , n]) => [t, n]);
  const launches = data.calls.filter((row) => row[3] > 0).map(([t, , , n]) => [t, n]);
  if (data.calls.length)
    tracks.push(
        barTrack("Calls", data.calls, data.width, "var(--blue)", (n) => `${plural(n, "call")} (${per(n)})`, per));
  if (launches.length)
    tracks.push(
        barTrack("Launches", launches, data.width, "var(--sky)", (n) => plural(n, "launch", "launches"), count));
  const pids = new Set(data.busy.map((busy) => busy.pid));
  tracks.push(
      ...data.busy.map((busy) => busyTrack(busy, pids.size > 1)), ...data.gpus.map(gpuTrack),
      ...data.memory.filter((series) => series.points.length).map(memoryTrack));
  if (data.steps.length) tracks.push(spanTrack("Steps", data.steps, "var(--blue)", "step"));
  if (data.ranges.length) tracks.push(spanTrack("Ranges", data.ranges, "var(--sky)", "range"));
  if (errors.length)
    tracks.push(
        barTrack("✕ Not success", errors, data.width, "var(--bad)", (n) => (n ? `${count(n)} failed` : ""), count));
  return tracks;
}
