// make makes an element. Its children are elements, or texts, which are not parsed as markup.
function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...inside);
  return element;
}

// button makes a button. Its accessible name is its text, unless it has a label.
function button(text, press, attributes = {}) {
  return make("button", { type: "button", click: press, ...attributes }, text);
}

// facts makes a list of names and values.
function facts(pairs) {
  return make("dl", {}, ...pairs.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}
