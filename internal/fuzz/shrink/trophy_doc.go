// Package trophy makes of a run that a hunt has found what a person can use: a smaller
// run that shows the same, and whether it is a defect of the lock or a limit.
package shrink
