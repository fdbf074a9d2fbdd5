package fuzz

// Plan draws what goes wrong in a scenario.
var Plan = Hunt{}.plan
