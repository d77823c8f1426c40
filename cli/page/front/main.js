const DATA = JSON.parse(document.getElementById("data").textContent);
const PARTS = {
  verdict: showVerdict,
  run: showRun,
  timeline: showTimeline,
  flame: (data, place) => (data.nothing ? place.append(sentence("nothing", data.nothing)) : new Flame(data, place)),
  memory: showMemory,
  steps: showSteps,
  flow: drawFlow,
  devices: showLines,
  findings: showFindings,
  cost: showLines
};

function fillPage() {
  document.title = `${DATA.title} - fade`;
  const contents = document.getElementById("contents");
  for (const section of document.querySelectorAll("main section")) {
    contents.append(
        make("a", {href: `#${section.id}`}, section.dataset.short || section.querySelector("h2").textContent));
    section.setAttribute("aria-label", section.querySelector("h2").textContent);
  }
  for (const place of document.querySelectorAll("[data-part]")) {
    const data = DATA.parts[place.dataset.part];
    if (data && data.error) place.append(sentence("nothing", `not answered: ${data.error}`));
    else if (data) PARTS[place.dataset.part](data, place);
  }
  for (const place of document.querySelectorAll("[data-table]")) {
    const table = DATA.tables[place.dataset.table];
    if (table && place.dataset.title) table.title = place.dataset.title;
    if (table && table.error)
      place.append(make("h3", {}, table.title), sentence("nothing", `not answered: ${table.error}`));
    else if (table && (table.rows.length || table.nothing)) new Table(table, place);
    else place.remove();
  }
  document.getElementById("made").textContent =
      `Made by fade ${DATA.fade} from ${DATA.recording}. This file holds everything it shows and loads nothing.`;
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
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
  });
  addEventListener("afterprint", apply);
  apply();
}

colours();
fillPage();
