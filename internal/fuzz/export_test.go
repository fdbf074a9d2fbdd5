package fuzz

// Plan draws faults for a scenario.
var Plan = Hunt{}.plan
