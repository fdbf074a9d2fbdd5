// Package nemesis defines faults as data: the kinds of faults, the plans that
// list them, and the setting that a plan is made for. A [Generator] draws random
// plans.
//
// nemesis injects nothing and knows no backend. A backend says which kinds it can inject, and which
// [Feature] of them. A plan that needs more is rejected before the run
// ([Ability.Refuse]).
//
// Each kind is a file fault_*.go and a line in the table of kinds. The file has its
// fields, what it claims, a simpler kind, and its [Effects], which all others ask
// for instead of the kind. A kind that only affects messages ([Traffic]) or clocks
// ([ClockFault]) needs no code in any world. Files that several kinds share are
// named for what they share: targets.go, traffic.go, restart.go, healing.go.
package nemesis
