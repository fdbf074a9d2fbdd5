// make makes an element. Its children are elements, or texts, which are not parsed as markup.
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | undefined | ((e: Event) => void)> = {},
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...inside);
  return element;
}

// draw makes an element of an SVG.
export function draw(tag: string, attributes: Record<string, string | number>, ...inside: (Node | string)[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...inside);
  return element;
}

// button makes a button.
export const button = (text: string, press: () => void, attributes: Record<string, string | boolean> = {}) =>
  make("button", { type: "button", click: press, ...attributes }, text);

// choice makes a list to choose from. Options of one group are listed together.
export function choice(label: string, options: { value: string; text: string; group?: string }[], value: string, changed: (value: string) => void) {
  const select = make("select", { change: () => changed(select.value) });
  const groups = new Map<string, HTMLElement>();
  for (const o of options) {
    const option = make("option", { value: o.value, selected: o.value === value }, o.text);
    if (!o.group) { select.append(option); continue; }
    if (!groups.has(o.group)) {
      groups.set(o.group, make("optgroup", { label: o.group }));
      select.append(groups.get(o.group)!);
    }
    groups.get(o.group)!.append(option);
  }
  return { select, element: make("label", { class: "field" }, label + " ", select) };
}

// notice makes a highlighted paragraph.
export const notice = (text: string, mark = "") => make("p", { class: "notice " + mark, role: mark === "bad" ? "alert" : "status" }, text);

// textOf is the text of an error.
export const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

// save lets the user save a file.
export function save(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// latest returns a function that ends what its last call has begun, and returns the signal of what
// begins now. All ends with the signal around it.
export function latest(around: AbortSignal): () => AbortSignal {
  let now = new AbortController();
  return () => {
    now.abort();
    now = new AbortController();
    return AbortSignal.any([around, now.signal]);
  };
}

// seedField makes a field for a seed: a whole number of up to 64 bits, which JavaScript's numbers do not
// have. value returns the last valid one.
export function seedField(first: bigint, changed: (seed: bigint) => void = () => {}) {
  const input = make("input", { inputmode: "numeric", pattern: "[0-9]{1,20}", value: String(first), class: "seed", "aria-label": "seed" });
  const field = { value: first, element: make("label", { class: "field" }, "seed ", input), set(seed: bigint) { field.value = seed; input.value = String(seed); } };
  input.addEventListener("change", () => {
    if (!/^[0-9]+$/.test(input.value) || BigInt(input.value) > mostSeed) return field.set(field.value);
    field.value = BigInt(input.value);
    changed(field.value);
  });
  return field;
}

// mostSeed is the greatest seed.
export const mostSeed = 2n ** 64n - 1n;
