package process

// Backend makes worlds of real redis-server processes. The zero value uses the
// redis-server in PATH.
type Backend struct {
	// Binary is the path of redis-server; empty means to look it up in PATH.
	Binary string
}

// Name is what a user calls this backend.
func (Backend) Name() string { return "process" }
