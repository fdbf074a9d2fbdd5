// What the home page says in the words of README.md.

import { read, root } from "./pages";

export interface Home {
  claim: string; // one sentence
  commands: string[]; // up to the first result, without prompts
}

declare const data: Home;
export { data };

export default {
  watch: [root + "README.md"],
  load(): Home {
    const text = read("README.md");
    const claim = /^\*\*(.+)\*\*$/m.exec(text)?.[1];
    const all = [...text.matchAll(/^\$ (.+)$/gm)].map((m) => m[1]);
    const last = all.findIndex((c) => c.startsWith("lockstorm "));
    if (!claim || last < 0) throw new Error("README.md has no claim, or no command of lockstorm, for the home page");
    return { claim, commands: all.slice(0, last + 1) };
  },
};
