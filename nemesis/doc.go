// Package nemesis defines faults as data: the kinds of faults, the plans that
// list them, and the setting that a plan is made for. A [Generator] draws random
// plans. A [Scheduler] works out when each fault of a plan begins and ends, and
// drives a [Target], which injects the faults into a world.
//
// nemesis knows no backend. A backend says which kinds it can inject, and which
// [Feature] of them. A plan that needs more is rejected before the run
// ([Ability.Refuse]).
//
// The kinds are grouped by topic in files fault_*.go, and listed in the table of
// kinds. A kind that only affects messages defines its effect here, for all
// worlds ([Traffic]).
package nemesis
