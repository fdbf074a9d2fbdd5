// Made by the tests of package playground from its Go types: make bless.

// Calls are the argument and the answer of each call.
export interface Calls {
  debate: [None, Topic[]];
  properties: [None, Property[]];
  compared: [None, Contest];
  curves: [None, Curve[]];
  points: [Curve, CurvePoints];
  enter: [EntryRequest, ScenarioText];
  check: [ScenarioText, Checked];
  knobs: [ScenarioText, KnobList];
  turn: [TurnRequest, Turned];
  runs: [RunsRequest, RunsAnswer];
  conclude: [Counts, Outcome];
  shares: [Rates, Share[]];
  show: [RunRequest, Shown];
  judge: [JudgeRequest, Shown];
  export: [ExportRequest, File];
  link: [Linked, Fragment];
  followLink: [Fragment, Linked];
  openPasted: [Pasted, Linked];
}

export interface Checked {
  name: string;
  summary: string;
  expected: Expected[];
  problems: Problem[];
}

export interface Choice {
  name: string;
  summary: string;
  group: string;
}

export interface Contest {
  trials: Choice[];
  locks: Choice[];
}

export interface Counts {
  scenario: string;
  runs: number;
  shown: number;
  against: number;
  seen: Record<string, Partial<Record<Verdict, number>>>;
}

export interface Curve {
  sweep: string;
  name: string;
  summary: string;
  property: Property;
  axis: string;
}

export interface CurvePoint {
  x: number;
  predicted?: number;
  scenario: string;
}

export interface CurvePoints {
  points: CurvePoint[];
}

export interface EntryRequest {
  trial: string;
  lock: string;
}

export interface Expected {
  property: Property;
  verdict: Verdict;
}

export interface ExportRequest {
  kind: string;
  scenario: string;
  seed: string;
  replay: string;
}

export interface File {
  name: string;
  type: string;
  text: string;
}

export interface Found {
  property: Property;
  verdict: Verdict;
  expected?: Verdict;
}

export interface Fragment {
  text: string;
}

export interface JudgeRequest {
  name: string;
  live: boolean;
}

export interface Knob {
  path: string;
  name: string;
  unit: string;
  help: string;
  min: number;
  max: number;
  step: number;
  value: number;
}

export interface KnobList {
  knobs: Knob[];
}

export interface Linked {
  scenario: string;
  seed: string;
  trace: string;
  replay: string;
}

export interface None {
}

export interface Observed {
  property: Property;
  verdict: Verdict;
  expected?: Verdict;
  share: Share;
}

export interface Outcome {
  conclusion: string;
  expects: boolean;
  text: string;
  observed: Observed[];
}

export interface Pasted {
  text: string;
}

export interface Problem {
  line: number;
  text: string;
}

export interface Property {
  code: string;
  title: string;
}

export interface Rate {
  count: number;
  of: number;
}

export interface Rates {
  counts: Rate[];
}

export interface Row {
  name: string;
  summary: string;
  voices: Voice[];
  sources: Source[];
  remark: string;
  variantOf: string;
  expected: Expected[];
  scenario: string;
}

export interface RunLine {
  seed: string;
  verdicts: Record<string, Verdict>;
  trace: string;
  shown: boolean;
  against: boolean;
}

export interface RunRequest {
  scenario: string;
  seed: string;
  replay: string;
  anchor: string;
}

export interface RunsAnswer {
  runs: RunLine[];
}

export interface RunsRequest {
  scenario: string;
  first: string;
  runs: number;
  millis: number;
}

export interface ScenarioText {
  scenario: string;
}

export interface Setting {
  path: string;
  value: number;
}

export interface Share {
  count: number;
  of: number;
  value: number;
  low: number;
  high: number;
  text: string;
}

export interface Shown {
  title: string;
  html: string;
  found: Found[];
  trace: string;
  command: string;
  sentence: string;
}

export interface Source {
  text: string;
  url: string;
}

export interface Topic {
  name: string;
  rows: Row[];
}

export interface TurnRequest {
  scenario: string;
  settings: Setting[];
}

export interface Turned {
  scenario: string;
  problems: Problem[];
}

export interface Voice {
  name: string;
  says: string;
}

export type Verdict = "holds" | "violated" | "unknown" | "n/a";
