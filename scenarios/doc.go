// Package scenarios is the table of named experiments, and the form in which
// an experiment is written down: plain data that names the lock, what its
// clients do, the world, what is done to it, and the verdict that is expected
// of every property. A [Scenario] is read from and printed as YAML.
//
// The package runs nothing. It knows locks and workloads by their names only.
package scenarios
