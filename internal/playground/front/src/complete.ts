// Completion in a scenario, from its JSON schema: names of fields and, behind a name, values.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import schema from "./generated/schema.json";

// Node is a part of a JSON schema, as far as it is used here.
interface Node {
  $ref?: string;
  description?: string;
  type?: string;
  properties?: Record<string, Node>;
  items?: Node;
  enum?: (string | number)[];
  const?: string;
  oneOf?: Node[];
  anyOf?: Node[];
}

const root = schema as unknown as Node & { $defs: Record<string, Node> };

// whole follows references.
function whole(node: Node | undefined): Node | undefined {
  for (let n = 0; node?.$ref && n < 20; n++) node = root.$defs[node.$ref.replace("#/$defs/", "")];
  return node;
}

const alternatives = (node: Node | undefined): Node[] => {
  const all = whole(node);
  return all ? [all, ...[...(all.oneOf ?? []), ...(all.anyOf ?? [])].map((one) => whole(one)!).filter(Boolean)] : [];
};

// field returns the schema of a field, or of the entries of a list.
function field(node: Node | undefined, name: string): Node | undefined {
  for (const one of alternatives(node)) {
    if (name === "-" && one.items) return one.items;
    if (one.properties?.[name]) return one.properties[name];
  }
  return undefined;
}

// Step is a field, or an entry of a list ("-"), and the column at which it stands.
interface Step { column: number; name: string }

// descend updates the steps above a place with one line: its dashes, and its field.
function descend(steps: Step[], line: string) {
  const m = /^(\s*)((?:- +)*)([A-Za-z_][\w-]*)?/.exec(line)!;
  let column = m[1]!.length;
  for (const dash of m[2]!.match(/- +/g) ?? []) {
    while (steps.length && (steps.at(-1)!.column > column || (steps.at(-1)!.column === column && steps.at(-1)!.name === "-"))) steps.pop(); // a list may stand as far left as its name
    steps.push({ column, name: "-" });
    column += dash.length;
  }
  while (steps.length && steps.at(-1)!.column >= column) steps.pop();
  if (m[3]) steps.push({ column, name: m[3] });
}

// nodeAt returns the schema of what encloses the field that follows a lead, such as "  - ".
function nodeAt(lines: string[], lead: string): Node | undefined {
  const steps: Step[] = [];
  for (const line of lines) if (/^\s*[^\s#]/.test(line)) descend(steps, line);
  descend(steps, lead + "x");
  return steps.slice(0, -1).reduce<Node | undefined>((node, step) => field(node, step.name), root);
}

const completion = (label: string, node: Node | undefined, apply: string): Completion => ({ label, apply, type: "property", info: whole(node)?.description ?? node?.description ?? "" });

// complete offers what may stand at the cursor.
export function complete(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos), before = line.text.slice(0, context.pos - line.from);
  const above = context.state.doc.sliceString(0, line.from).split("\n");
  const value = /^(\s*(?:- +)*)([A-Za-z_][\w-]*): +([\w.-]*)$/.exec(before), name = /^(\s*(?:- +)*)([\w-]*)$/.exec(before);
  if (value) return offered(context, value[3]!, valuesOf(field(nodeAt(above, value[1]!), value[2]!)));
  if (!name || (!name[2] && !context.explicit)) return null;
  return offered(context, name[2]!, fieldsOf(nodeAt(above, name[1]!)));
}

function offered(context: CompletionContext, typed: string, options: Completion[]): CompletionResult | null {
  return options.length ? { from: context.pos - typed.length, options, validFor: /^[\w.-]*$/ } : null;
}

const fieldsOf = (node: Node | undefined) => alternatives(node).flatMap((one) => Object.entries(one.properties ?? {})).map(([name, of]) => completion(name, of, name + ": "));

const valuesOf = (node: Node | undefined) => alternatives(node).flatMap((one) => [...(one.enum ?? []), ...(one.const === undefined ? [] : [one.const])].map((v) => ({ ...completion(String(v), one, String(v)), type: "enum" })));
