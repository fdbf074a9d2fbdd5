// Package mutants measures how good hunts are: it plants defects such as real lock libraries
// had into the lock's source, one at a time, and hunts.
//
// A mutant is a diff in the directory planted. The compiler gets it as an overlay: no file of
// the checkout changes, and no lock has switches for defects. The built program is hunter,
// which hunts in the search space of the lock and does not know the defect.
package mutants
