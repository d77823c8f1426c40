// The page: a file holds its data, a server is asked for them.
const START = JSON.parse(document.getElementById("data").textContent);
const PARTS = {
  verdict: showVerdict,
  run: showRun,
  timeline: showTimeline,
  flame: (data, place, old) =>
      data.nothing ? place.append(sentence("nothing", data.nothing)) : new Flame(data, place, old),
  memory: showMemory,
  steps: showSteps,
  flow: drawFlow,
  devices: showLines,
  findings: showFindings,
  cost: showLines
};
const SHOWN = new Map();  // what stands in each place
const TABLES = {};        // the newest data of each

function showPart(place, data) {
  const name = place.dataset.part, old = SHOWN.get(place);
  if (name !== "timeline" || data.error || !old) place.replaceChildren();
  if (data.error) {
    place.append(sentence("nothing", `not answered: ${data.error}`));
    SHOWN.delete(place);
  } else {
    SHOWN.set(place, PARTS[name](data, place, old));
  }
}

// An empty table is left out if few recordings have one, or beside another one that is empty for the same reason.
function isLeftOut(place, table) {
  if (table.error || table.rows.length) return false;
  if ("optional" in place.dataset) return true;
  const beside = TABLES[place.dataset.beside];
  return !table.nothing || (beside && !beside.error && !beside.rows.length);
}

function showTable(place, table) {
  if (place.dataset.title) table.title = place.dataset.title;
  place.replaceChildren();
  place.hidden = isLeftOut(place, table);
  if (table.error) place.append(make("h3", {}, table.title), sentence("nothing", `not answered: ${table.error}`));
  else if (!place.hidden) SHOWN.set(place, new Table(table, place, SHOWN.get(place)));
}

function listContents() {
  const contents = document.getElementById("contents");
  for (const section of document.querySelectorAll("main section")) {
    contents.append(
        make("a", {href: `#${section.id}`}, section.dataset.short || section.querySelector("h2").textContent));
    section.setAttribute("aria-label", section.querySelector("h2").textContent);
  }
}

// All of a file, or what is new of a server's.
function fillPage(data) {
  Object.assign(TABLES, data.tables);
  if (data.title) document.title = `${data.title} - fade`;
  for (const place of document.querySelectorAll("[data-part]"))
    if (data.parts[place.dataset.part]) keepView(place, () => showPart(place, data.parts[place.dataset.part]));
  for (const place of document.querySelectorAll("[data-table]"))
    if (data.tables[place.dataset.table]) keepView(place, () => showTable(place, data.tables[place.dataset.table]));
}

function fillFile() {
  fillPage(START);
  for (const place of document.querySelectorAll("[data-table]"))
    if (place.hidden || !START.tables[place.dataset.table]) place.remove();
  const trace = START.serve.replace(/ serve$/, " export --format perfetto -o trace.pftrace");
  document.getElementById("timeline")
      .append(
          paragraph(
              "dim", "Single calls with arguments and stacks, and SQL, need the recording: ", command(START.serve)),
          paragraph("dim", "The exact trace for ui.perfetto.dev: ", command(trace)));
  document.getElementById("made").textContent =
      `Made by fade ${START.fade} from ${START.recording}. This file holds everything it shows and loads nothing.`;
}

// auto, light, dark
function colours() {
  const button = document.getElementById("theme"), system = matchMedia("(prefers-color-scheme: dark)");
  let wish = "auto";
  const apply = () => {
    document.documentElement.dataset.theme = wish === "auto" ? (system.matches ? "dark" : "light") : wish;
    button.textContent = wish;
    button.setAttribute("aria-label", `Colours: ${wish === "auto" ? "as the system has them" : wish}`);
  };
  button.addEventListener("click", () => {
    wish = {auto: "light", light: "dark", dark: "auto"}[wish];
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

colours();
if (SERVED) addSqlBox();
listContents();
if (SERVED) new Live().run();
else fillFile();
