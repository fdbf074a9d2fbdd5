// Package scenarios defines experiments as data: the lock, the clients, the world, the plan of
// faults, and the expected verdict of every property. A [Scenario] is read from and printed as
// YAML. The package also contains the debate, the trials of the comparison and the series.
//
// The package runs nothing. It knows locks and workloads by name only.
package scenarios
