// Package timeline shows one run as lanes over its time: a lane for every client (waiting,
// holding within validity, believing past it, paused, dead), one for every node (which
// token holds the key, down, back empty), what clocks were off by, how long calls took and
// when nobody got the lock; faults lie over all of them as shades, and what a judge has
// found is marked where it happened.
//
//	m, err := timeline.Read(run, history)   // the model: numbers and texts
//	d.Add("Timeline", m.Block())            // the page: drawn, zoomed and searched in the browser
//
// The model is made of the history, the judges' report and, for clocks, the plan. It
// judges nothing.
package timeline
