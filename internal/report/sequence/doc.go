// Package sequence draws one small run as people draw it who explain a lock: a lifeline for
// every participant, time downwards, arrows that slant from where a message was sent to
// where it came, and beside them who holds, who only believes it, who stands still, and
// which node keeps whose key.
//
//	e, t := trace.Of(e)
//	r, err := e.Run(ctx, c.Seed, nil)
//	d := Of(t, r.Report.Finding(c.Property))
//	page.Add("How it happens", d.Block())   // or d.SVG(), a file of its own
//
// A [Diagram] is a plain model, made of what a trace has heard; the drawing is made of the
// model alone. Nothing is invented: an end of a message whose instant nobody has told is
// drawn as a ring beside the end that is known.
//
// Time is not to scale. What happens is spaced by its order, and a long time in which
// nothing does is a gap that says how long it was.
package sequence
