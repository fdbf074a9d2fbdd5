// make makes an element. What is inside is elements, or texts, which are never markup.
function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...inside);
  return element;
}

// button makes a button. Its name for people is its text, unless it has another.
function button(text, press, attributes = {}) {
  return make("button", { type: "button", click: press, ...attributes }, text);
}

// facts makes a list of names and what they are.
function facts(pairs) {
  return make("dl", {}, ...pairs.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}
