// Package mutants measures what a hunt is worth: it plants defects that real lock
// libraries have had into the real lock's source, one at a time, and hunts.
//
// A mutant is a diff in planted. It is given to the compiler as an overlay: no file of
// the checkout changes, and no lock has a switch for its defects. What is built is
// hunter, a small program that hunts on the generic grounds and knows nothing of the
// defect.
package mutants
