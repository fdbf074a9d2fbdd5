// The rows of the debate. They are part of the page, so that it shows them before the program is loaded.

import type { Row, Topic } from "./api";
import debate from "./generated/debate.json";

export const topics = debate as unknown as Topic[];

// rows are all rows, as options to choose from.
export const rows: (Row & { value: string; text: string; group: string })[] =
  topics.flatMap((t) => t.rows.map((r) => ({ ...r, value: r.name, text: r.name, group: t.name })));
