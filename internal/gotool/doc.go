// Package gotool runs the go command: it lists packages by what their tests import, runs
// tests, and collects their results.
package gotool
