// The page of fade-query serve: asks for what is new, and keeps what the reader has chosen.

// JSON of the server. An answer that is refused is an Error.
async function ask(name, parameters, signal) {
  const answer = await fetch(`${name}?${new URLSearchParams(parameters)}`, {cache: "no-store", signal});
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer.json();
}
const rest = (ms) => new Promise((done) => setTimeout(done, ms));

// Changes a place without losing where the reader is: focus, selection, scrolling, opened details.
function keepView(place, change) {
  const fields = () => [...place.querySelectorAll("button, input, textarea, summary, [tabindex]")];
  const scrolled = () => [...place.querySelectorAll(".scroll, .flame")];
  const details = () => [...place.querySelectorAll("details")];
  const at = fields().indexOf(document.activeElement), field = document.activeElement;
  const chosen = at >= 0 && field.tagName === "INPUT" ? [field.selectionStart, field.selectionEnd] : null;
  const positions = scrolled().map((node) => [node.scrollLeft, node.scrollTop]), open = details().map((d) => d.open);
  change();
  scrolled().forEach((node, i) => positions[i] && node.scrollTo(...positions[i]));
  details().forEach((node, i) => {
    node.open = Boolean(open[i]);
  });
  if (at < 0 || document.activeElement === field) return;
  const now = fields()[at];
  if (now) now.focus({preventScroll: true});
  if (now && chosen && now.tagName === "INPUT") now.setSelectionRange(...chosen);
}

class Live {
  constructor() {
    this.version = 0;
    this.paused = false;
    this.state = make("span", {class: "dim", role: "status"}, "reading …");
    this.button = toggle("pause", false, () => {
      this.paused = !this.paused;
      this.button.setAttribute("aria-pressed", this.paused);
      this.tell();
    });
    this.button.hidden = true;
    document.querySelector("header").insertBefore(this.button, document.getElementById("theme"));
    document.querySelector("header").insertBefore(this.state, this.button);
  }
  tell() {
    this.button.hidden = !this.live;
    this.state.textContent = !this.live ? "" : this.paused ? "paused" : "● live";
  }
  async read() {
    const data = await ask("data.json", {since: this.version});
    if (data.error) throw new Error([data.error, data.cause].filter(Boolean).join(": "));
    this.live = data.live;
    this.version = data.version;
    if (data.serve) recordingCommand = data.serve.replace(/ serve$/, "");
    fillPage(data);
    if (data.fade)
      document.getElementById("made").textContent =
          `Served by fade ${data.fade} from ${data.recording}. The page asks this server and nothing else.`;
    this.tell();
    return data.wait_ms;
  }
  async run() {
    for (;;) {
      let wait = 1000;
      try {
        if (!(this.version && (this.paused || document.hidden))) wait = await this.read();
      } catch (error) {
        this.state.textContent = `no answer of fade-query serve: ${error.message}`;
        wait = 5000;
      }
      await rest(wait);
    }
  }
}
