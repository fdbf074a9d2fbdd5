// Package shrink reduces a run that shows something to a smaller one that still shows it:
// fewer clients, faults, nodes and steps, rounder times.
//
// Every candidate is run, and kept only if it shows the same. [Size] alone decides what
// smaller means: no pass can make a scenario larger.
//
// The caller says what a run has to show ([Shows]). A [Minimizer] asks for more than the
// violated property, so that a violation by one cause is not reduced to one by another, and
// reports whether it is a defect of the lock or a limit.
package shrink
