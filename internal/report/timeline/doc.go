// Package timeline shows one run as lanes over its time: a lane for every client (waiting,
// holding within validity, believing past it, paused, dead), one for every node (which
// token holds the key, down, back empty), what clocks were off by, how long calls took and
// when nobody got the lock; faults lie over all of them as shades, and what a judge has
// found is marked where it happened.
//
//	m, err := Read(Run{Open: open, Report: report, Scenario: scenario})
//	d.Add("Timeline", m.Block())   // the page: drawn, zoomed and searched in the browser
//	err = m.Text(out)              // the same for those who do not see it
//
// The model is numbers and texts, made of the history, the judges' report and, for clocks,
// the plan. It judges nothing: who holds and who waits are the windows, rows and outages of
// package checker, what went on beside that is paired up by internal/follow, and what faults
// do to clocks is done by package world, to clocks that nobody else has.
package timeline
