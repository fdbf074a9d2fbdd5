package nemesis

import (
	"errors"
	"fmt"
)

// LinkLatency is how long a message takes one way over some links, in place of
// what the scenario says for all.
type LinkLatency struct {
	Links `yaml:",inline"`

	Way Direction `yaml:"way,omitempty"`

	// Latency is how long a message takes one way.
	Latency Distribution `yaml:"latency"`
}

func (l LinkLatency) validate(s Setting) error {
	if err := l.validateWay(s, l.Way); err != nil {
		return err
	}
	return field("latency", l.Latency.Consistent())
}

// Connections is how the requests of a client travel to each node. Nothing means
// a connection for each request under way, as many as it takes.
type Connections struct {
	// Limit is how many requests of a client can be under way to one node, 0
	// for any number; each has a connection to itself. Others wait for their
	// turn. One that is given up while it waits is never sent. One that is
	// given up while it is under way costs its connection, and so makes room
	// at once; it may still arrive.
	Limit int `yaml:"limit,omitempty" want:"0.."`

	// Pipelined says that a client has one connection to each node, which
	// carries its requests in order, and the replies in the same order: one
	// that is late makes all behind it late. The connection outlasts requests
	// that are given up.
	Pipelined bool `yaml:"pipelined,omitempty"`

	// Batched says that requests travel as package redisnode sends them with its
	// default options. While no request of a client is under way to a node, the
	// next one goes out alone. Others wait, and go out together over one
	// connection, when what is under way has ended, or after 1 ms for each
	// connection in use. A node that does not answer is sent one request at a
	// time; requests that would have to wait for it then fail at once, and are
	// never sent.
	Batched bool `yaml:"batched,omitempty"`
}

func (c Connections) validate() error {
	switch {
	case c.Limit > 0 && c.Pipelined:
		return field("limit", errors.New("a pipelined connection has no limit: it is one, for all requests"))
	case c.Batched && (c.Limit > 0 || c.Pipelined):
		return field("batched", errors.New("batches have connections of their own: no limit, and no pipelined connection"))
	}
	return nil
}

func (s Setting) validateNetwork() error {
	if err := s.Latency.Consistent(); err != nil {
		return field("latency", err)
	}
	for i, l := range s.Links {
		if err := l.validate(s); err != nil {
			return field("links", field(fmt.Sprintf("[%d]", i), err))
		}
	}
	if err := s.GuardLatency.validate(); err != nil {
		return field("guard_latency", err)
	}
	return field("connections", s.Connections.validate())
}
