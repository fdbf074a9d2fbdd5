// Package locks puts other people's locks into the storms of locktest, beside this project's
// own: each as its documentation shows it, and once more as well set as its options allow. What
// came of it stands in docs/evidence/scoreboard.md, and of locks in stores in scoreboard-stores.md beside
// it. The test of this package runs the same storms a few times, and fails where something is violated that
// is not in the table of findings, or something in it is violated no more: so a new version of a library
// that changes a verdict is noticed.
package locks
