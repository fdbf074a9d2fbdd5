// Package timelinepage shows one run as lanes over time: a lane for each client (waiting, holding,
// overdue, paused, dead) and each node (whose key it keeps, down), and lanes for clock errors,
// latencies and outages. Faults are shaded areas across the lanes, findings are marked where
// they happened.
//
//	m, err := Read(Run{Open: open, Report: report, Scenario: scenario})
//	d.Add("Timeline", m.Block())   // for a page: a script draws it
//	err = m.Text(out)              // as text
//
// The model is data. It is made of the history, the checker's report and, for clocks, the
// fault plan. Holds and intervals come from internal/timeline, waits and outages from package
// checker, and package world computes what faults do to clocks.
package timelinepage
