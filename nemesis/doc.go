// Package nemesis defines faults as data: the kinds of faults, the plans that
// list them, and the setting that a plan is made for. A [Generator] draws random
// plans.
//
// nemesis injects nothing and knows no backend. A backend says which kinds it can inject, and which
// [Feature] of them. A plan that needs more is rejected before the run
// ([Ability.Refuse]).
//
// Each kind is a file fault_*.go and a line in the table of kinds.go. The file has the
// kind's fields, what it claims, a simpler kind, and its [Effects], which all others
// ask for instead of the kind. A kind that only affects messages ([Traffic]) or clocks
// ([ClockFault]) needs no code in any world.
//
// References go down this list, except within its third line, whose types contain each
// other:
//
//	weights.go, generate.go, ability.go, kinds.go   all kinds together
//	fault_*.go; claims.go, few.go, traffic.go, clock.go, restart.go
//	fault.go, plan.go, setting.go, random.go
//	effects.go, healing.go, trigger.go, targets.go, distribution.go, fields.go
package nemesis
