// Package sequence draws one small run as a message-sequence diagram: a lifeline for each
// participant, time downwards, arrows that slant from where a message was sent to where it was
// received, and bars that show who holds the lock or works on past its validity, who is paused,
// and which node keeps whose key.
//
//	e, t := trace.Of(e)
//	r, err := e.Run(ctx, c.Seed, nil)
//	d := Of(t, r.Report.Finding(c.Property))
//	page.Add("How it happens", d.Block())
//
// A [Diagram] is a model, made of a trace. The drawing is made of the model alone. Nothing is
// invented: an end of a message whose time is unknown is drawn as a ring beside the known end.
//
// Time is not to scale. Events are spaced by their order, and a long time without events is a
// gap labelled with its length.
package sequence
