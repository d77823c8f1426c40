// The SQL box of fade-query serve.
let recordingCommand = "fade-query";
// "fade-query run.db"
const SERVE_COMMAND = () => recordingCommand;
const FIRST_SQL = "SELECT name, calls, total_ns, avg_ns\nFROM top\nLIMIT 10";

class SqlBox {
  constructor(place) {
    this.place = make("div");
    this.field = make("textarea", {rows: 5, spellcheck: "false", "aria-label": "SQL"});
    this.field.value = FIRST_SQL;
    this.go = make("button", {type: "button", onclick: () => this.run()}, "run");
    this.stop = make("button", {type: "button", hidden: true, onclick: () => this.asked.abort()}, "stop");
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.run();
    });
    place.append(
        paragraph("dim", "One SELECT over the recording's views, for reading. Ctrl+Enter runs it. Views and columns: ",
                  command("fade-query schema")),
        this.field, make("div", {class: "tools"}, this.go, this.stop), this.place);
  }
  async run() {
    this.asked = new AbortController();
    this.stop.hidden = false;
    this.place.replaceChildren(sentence("dim", "reading …"));
    try {
      this.show(await ask("sql.json", {sql: this.field.value}, this.asked.signal));
    } catch (error) {
      const words = error.name === "AbortError" ? "stopped" : `no answer: ${error.message}`;
      this.place.replaceChildren(sentence("nothing", words));
    }
    this.stop.hidden = true;
  }
  show(answer) {
    this.place.replaceChildren();
    if (answer.error) return this.refuse(answer);
    const words = this.field.value.replaceAll("'", "'\\''");
    new Table(
        {...answer, title: "", nothing: "no rows", command: `${SERVE_COMMAND()} sql '${words}'`}, this.place);
    this.place.append(sentence("dim", `${plural(answer.rows.length, "row")} in ${duration(answer.ns)}`));
  }
  // The text in front of the error: SQLite tells the place, or at least a word.
  before(answer) {
    const text = new TextEncoder().encode(this.field.value);
    if (answer.place !== undefined) return new TextDecoder().decode(text.slice(0, answer.place));
    const named = /(?:no such [a-z]+: |near ")([^\s"(]+)/.exec(answer.cause);
    const at = named ? this.field.value.indexOf(named[1]) : -1;
    return at < 0 ? null : this.field.value.slice(0, at);
  }
  refuse(answer) {
    this.place.append(
        paragraph("bad text", `${answer.error}: ${answer.cause}`), answer.fix ? sentence("dim", answer.fix) : "");
    const before = this.before(answer);
    if (before === null) return;
    const word = /^\S*/.exec(this.field.value.slice(before.length))[0];
    const lines = before.split("\n");
    this.place.append(sentence("dim", `line ${lines.length}, column ${lines[lines.length - 1].length + 1}`));
    this.field.focus();
    this.field.setSelectionRange(before.length, before.length + word.length);
  }
}

function addSqlBox() {
  const section = make("section", {id: "sql"}, make("h2", {}, "SQL"));
  document.querySelector("main").append(section);
  new SqlBox(section);
}
