// Package report makes HTML pages of stored results: runs, cases, debates, comparisons, sweeps
// and advice. It chooses the sections of a page and finds the history of each run that is
// shown. Package document lays out the page, timeline and sequence draw runs. The texts, signs
// and tables of this package are also printed on terminals.
//
//	page, err := Of(ctx, []string{"runs/crash-restart-sim-1"}, options)
//	err = page.Write(file)
//
// Each kind of result has a file with a method of [Report] that adds its sections, and an entry
// in the table of kinds (find.go), which recognizes it by the files in its directory.
package report
