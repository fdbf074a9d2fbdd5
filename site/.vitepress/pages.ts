import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import nav from "../nav.json" with { type: "json" };

/** The directory of the project. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

export const repository = "https://github.com/lockstorm/lockstorm";

/** The files of the project that are pages, by task. A test compares them with those of docs. */
export const tasks: { task: string; pages: string[] }[] = nav;

/** The source of the home page, which is not read at GitHub. */
export const home = "site/index.md";

export const pages = new Set(tasks.flatMap((t) => t.pages));

/** Pages that have another path on the site than in the project. */
export const rewrites: Record<string, string> = {
  [home]: "index.md",
  "README.md": "overview.md",
  "DESIGN.md": "design.md",
  "CONTRIBUTING.md": "contributing.md",
  "CHANGELOG.md": "changelog.md",
  "docs/evidence/README.md": "docs/evidence/index.md",
};

/** The path of a page on the site, below its base. */
export function route(page: string): string {
  return "/" + (rewrites[page] ?? page).replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html");
}

/** Reads a file of the project. */
export function read(file: string): string {
  return readFileSync(root + file, "utf8");
}

/** The title of a page: its first heading. */
export function title(page: string): string {
  const heading = /^# +(.+)$/m.exec(read(page));
  if (!heading) throw new Error(`${page} has no title`);
  return heading[1];
}
