package nemesis

// Reset breaks connections over links: those with something under way in its
// direction at the start, and until the end every one that has something to
// carry that way.
//
// Requests are reset before the node has seen them and never take effect.
// Replies are reset after the node has applied the request. Both is reset
// before the request, and at the start with replies under way as well. The
// client hears of a reset when the reply would have come, and cannot tell
// which of the two it was.
type Reset struct {
	Links `yaml:",inline"`
	Way   Direction `yaml:"way,omitempty"`
}

// Kind is "reset".
func (*Reset) Kind() Kind { return "reset" }

func (r *Reset) String() string {
	when := "when a request arrives"
	if r.Way == Replies {
		when = "when a request has been applied"
	}
	return "connections " + r.Links.String() + " are reset " + when
}

func (r *Reset) validate(s Setting) error { return r.validateWay(s, r.Way) }

func (r *Reset) targets(s Setting) []string { return r.named("the resets", s) }

func (*Reset) ending() ending { return ending{} }

func (*Reset) random(d *dice) Action { return &Reset{Links: d.links(), Way: d.direction()} }
