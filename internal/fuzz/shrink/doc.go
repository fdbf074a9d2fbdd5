// Package shrink makes a run that shows something into a smaller one that still does:
// fewer clients, faults, nodes and steps, rounder times.
//
// Nothing is assumed: every smaller run is made, and kept only if it shows the same.
// What is smaller says [Size], and nothing else: no pass can make a scenario larger.
//
// What a run is shrunk for is the caller's affair ([Shows]). Who does not want a case
// of one cause to be shrunk into one of another asks for more than the property that
// was violated.
package shrink
