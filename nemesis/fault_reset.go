package nemesis

// Reset resets connections: at the start those with a message under way in its
// direction, and until the end every connection that carries a message in that
// direction.
//
// A request is reset before the node has seen it and never takes effect. A reply
// is reset after the node has applied the request. In both directions, connections
// are reset at the request, and at the start also those with replies under way. The
// client sees the reset when the reply would have arrived, and cannot tell the two
// cases apart.
type Reset struct {
	Links `yaml:",inline"`
	Way   Direction `yaml:"way,omitempty" want:"requests|replies"`

	// Once resets on each link only the connection of the first message in each of the
	// directions that comes after the start. So a client that tries again gets through, however
	// soon it does. The fault is over on a link when it has struck there, and as a whole when it
	// has struck all of its links, if its end does not come before.
	Once bool `yaml:"once,omitempty"`
}

// Kind is "reset".
func (*Reset) Kind() Kind { return "reset" }

func (*Reset) about() string {
	return "connections between clients and nodes are reset, before the request takes effect or after"
}

func (r *Reset) String() string {
	when := "when a request arrives"
	if r.Way == Replies {
		when = "when a request has been applied"
	}
	if r.Once {
		when = "once " + when
	}
	return "connections " + r.Links.String() + " are reset " + when
}

func (r *Reset) claims(s Setting) []string { return r.named("the resets", s) }

// Effects implements [Action].
func (r *Reset) Effects(s Setting) Effects {
	e := Effects{Does: Resets, Away: r.nodes(s)}
	if r.Once {
		e.Does |= StrikesOnce
	}
	return e
}

func (r *Reset) simpler(Setting) Action { return &Partition{Links: r.Links, Way: r.Way} }

func (*Reset) ending() ending { return ending{} }

func (*Reset) random(g *paramGenerator) Action { return &Reset{Links: g.links(), Way: g.direction()} }
