// Package nemesis says what is done to a world, as data: faults, the plans
// that list them, and the setting that a plan is made for. A [Generator] draws
// plans. The package also holds the [Scheduler], which works out when each fault
// of a plan begins and ends.
//
// nemesis knows no backend. A backend implements [Target]; it carries out a
// kind of fault, and a [Feature] that some faults of a kind ask for, or refuses
// it by name before anything starts ([Refuse]).
//
// Each kind of fault has a file of its own and one line in the table of kinds.
// One that does nothing but to messages says there what it does ([Traffic]).
package nemesis
