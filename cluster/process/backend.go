package process

import "github.com/lockstorm/lockstorm/nemesis"

// Backend makes worlds of real redis-server processes. The zero value uses the
// redis-server in PATH.
type Backend struct {
	// Binary is the path of redis-server; empty means to look it up in PATH.
	Binary string
}

// Name is what a user calls this backend.
func (Backend) Name() string { return "process" }

// Faults lists the kinds of faults that its worlds can carry out.
func (Backend) Faults() []nemesis.Kind {
	return []nemesis.Kind{
		(*nemesis.Crash)(nil).Kind(),
		(*nemesis.Partition)(nil).Kind(),
		(*nemesis.Latency)(nil).Kind(),
		(*nemesis.Pause)(nil).Kind(),
		(*nemesis.Kill)(nil).Kind(),
	}
}
