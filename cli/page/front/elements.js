// Elements of the page. Every text goes through textContent, so that a hostile name stays text.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}
// True on the page of fade-query serve, which can ask for more than it holds.
const SERVED = JSON.parse(document.getElementById("data").textContent).served === true;
const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const paragraph = (kind, ...children) => make("p", {class: kind}, ...children);
const command = (words) => make("code", {}, words);

const sentence = (kind, text) => paragraph(kind + " text", text);

function toggle(label, pressed, act) {
  const button = make("button", {type: "button", "aria-pressed": String(pressed), onclick: () => act(button)}, label);
  return button;
}

// Buttons of which one is pressed.
function choice(labels, chosen, act) {
  const buttons = labels.map((label, i) => toggle(label, i === chosen, () => {
                               buttons.forEach((other, at) => other.setAttribute("aria-pressed", String(at === i)));
                               act(i);
                             }));
  return buttons;
}
