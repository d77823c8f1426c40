// Reports as tables: a click on a heading sorts, the field filters, a click on a cell shows its whole text.
const SHOWN_AT_FIRST = 12;

// Columns without a value in any row say nothing; those that a narrow terminal leaves out first wait for "all
// columns".
function usualColumns(table) {
  return table.columns.map((column, i) => ({...column, at: i}))
      .filter((column) => table.rows.some((row) => row[column.at] !== null && row[column.at] !== ""))
      .filter((column) => !column.leave);
}

function compare(a, b, up) {
  const empty = (value) => value === null || value === "";
  if (empty(a) || empty(b)) return empty(a) - empty(b);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  return up ? order : -order;
}

function cell(column, value) {
  const text = cellText(column.kind, value);
  if (column.kind === "percent" && typeof value === "number") {
    const meter = make("span", {class: "meter", style: {width: `${Math.max(0, Math.min(100, value)) * 0.055}rem`}});
    return make(
        "td", {class: "right"}, make("span", {class: "meterbox"}, meter), make("span", {class: "share"}, text));
  }
  if (column.kind === "trend") return make("td", {}, trend(text));
  const node = make("td", {class: isNumeric(column.kind) && column.kind !== "id" ? "right" : ""}, text);
  if (text.length > 60) {
    node.title = text.slice(0, 600);
    node.addEventListener("click", () => node.classList.toggle("open"));
  }
  return node;
}

// Calls over time, from the begin of the recording to its end.
function trend(text) {
  const values = text.split(",").map(Number), most = Math.max(1, ...values);
  const svg = draw("svg", {
    viewBox: `0 0 ${values.length * 4} 14`,
    width: values.length * 4,
    height: 14,
    role: "img",
    "aria-label": `calls over time: ${text}`
  });
  svg.style.width = `${values.length * 4}px`;
  values.forEach((value, i) => svg.append(draw("rect", {
    x: i * 4,
    y: 14 - (13 * value) / most,
    width: 3,
    height: Math.max(value > 0 ? 1 : 0, (13 * value) / most),
    fill: "var(--blue)"
  })));
  return svg;
}

function matches(table, row, words) {
  const text = row.map((value, i) => cellText(table.columns[i].kind, value)).join("\t").toLowerCase();
  return words.every((word) => text.includes(word));
}

class Table {
  // old: the table with the rows before, whose order and filter stay.
  constructor(table, place, old) {
    this.table = table;
    this.all = old ? old.all : false;
    this.long = old ? old.long : false;
    this.sort = old ? old.sort : null;
    this.words = old ? old.words : [];
    this.head = make("tr");
    this.body = make("tbody");
    this.below = paragraph("dim");
    if (table.title) place.append(make("h3", {}, table.title));
    if (table.about) {
      place.append(make("details", {}, make("summary", {}, "what this is"), sentence("about", table.about)));
    }
    if (!table.rows.length) return place.append(sentence("nothing", table.nothing || "nothing was recorded"));
    place.append(
        this.tools(),
        make(
            "div", {class: "scroll", tabindex: 0, role: "region", "aria-label": table.title},
            make("table", {}, make("thead", {}, this.head), this.body)),
        this.below);
    if (table.remark) place.append(sentence("remark", table.remark));
    this.show();
  }
  tools() {
    const filter = make("input", {
      type: "search",
      placeholder: "filter",
      value: this.words.join(" ") || null,
      "aria-label": `filter: ${this.table.title}`,
      oninput: () => {
        this.words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        this.show();
      }
    });
    const hidden = usualColumns(this.table).length < this.table.columns.length;
    const columns = toggle("all columns", this.all, (button) => {
      this.all = !this.all;
      button.setAttribute("aria-pressed", this.all);
      this.show();
    });
    this.more = toggle("all rows", this.long, (button) => {
      this.long = !this.long;
      button.setAttribute("aria-pressed", this.long);
      this.show();
    });
    const many = this.table.rows.length > SHOWN_AT_FIRST;
    return make(
        "div", {class: "tools"}, this.table.rows.length > 5 ? filter : null, hidden ? columns : null,
        many ? this.more : null, command(this.table.command));
  }
  order(column) {
    const numeric = isNumeric(column.kind);
    this.sort =
        this.sort && this.sort.at === column.at ? {at: column.at, up: !this.sort.up} : {at: column.at, up: !numeric};
    this.show();
  }
  heading(column) {
    const sorted = this.sort && this.sort.at === column.at;
    const label = column.heading + (sorted ? (this.sort.up ? " ▲" : " ▼") : "");
    return make(
        "th", {
          scope: "col",
          title: column.help,
          class: isNumeric(column.kind) && column.kind !== "id" ? "right" : "",
          "aria-sort": sorted ? (this.sort.up ? "ascending" : "descending") : null
        },
        make("button", {type: "button", onclick: () => this.order(column)}, label));
  }
  show() {
    const columns = this.all ? this.table.columns.map((column, i) => ({...column, at: i})) : usualColumns(this.table);
    let rows = this.table.rows.filter((row) => matches(this.table, row, this.words));
    if (this.sort) rows = [...rows].sort((a, b) => compare(a[this.sort.at], b[this.sort.at], this.sort.up));
    const found = rows.length;
    if (!this.long) rows = rows.slice(0, SHOWN_AT_FIRST);
    this.head.replaceChildren(...columns.map((column) => this.heading(column)));
    this.body.replaceChildren(
        ...rows.map((row) => make("tr", {}, ...columns.map((column) => cell(column, row[column.at])))));
    this.below.replaceChildren(...this.rest(found, rows.length));
  }
  rest(found, shown) {
    const words = [];
    if (this.words.length) words.push(`${count(found)} of ${count(this.table.rows.length)} rows match. `);
    if (shown < found)
      words.push(
          make("span", {class: "screen"}, `${count(found - shown)} more below "all rows". `),
          make(
              "span", {class: "paper"}, `${count(found - shown)} more rows are in the page and not on this paper. `));
    if (this.table.more)
      words.push(
          this.table.more === true ? "There are more rows: " : `${count(this.table.more)} more: `,
          command(this.table.command + " --limit 0"), " shows them.");
    return words;
  }
}
