// Package report makes a page of what is stored: of a run, of the cases that a hunt has
// left, of debates, comparisons, campaigns and advice. What a page looks like is for
// report/document, what is said of runs for report/account; this package chooses what
// stands where, and how to get at the history of a run that is to be shown.
//
//	page, err := Of(ctx, []string{"runs/crash-restart-sim-1"}, options)
//	err = page.Write(file)
//
// Each kind of thing has a file with a method of [Report] that adds its sections, and an
// entry in the table of kinds (find.go), by which a directory is recognised.
package report
