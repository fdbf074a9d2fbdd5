package fuzz

// Plan draws faults for a scenario.
var Plan = Hunt{}.plan

// Lookahead is how many runs after another its results can matter.
const Lookahead = lookahead
