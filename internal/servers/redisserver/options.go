package redisserver

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"sync"

	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// Options configures the servers of a [Fleet].
type Options struct {
	Binary      string // path of redis-server; empty: look it up in PATH
	Nodes       int    // number of servers
	AppendOnly  bool   // a server keeps its acknowledged writes over restarts; otherwise it keeps nothing
	Journal     bool   // servers can be restored to an earlier state, see [Server.Restore]
	Rewind      bool   // with Journal: even while they run, see [Server.Rewind]
	Clocks      bool   // their wall clocks can be set, see [Server.SetClock]
	EverySecond bool   // with AppendOnly: the file is synced once a second instead of at every write
	Torn        bool   // with AppendOnly: the file can be torn, see [Server.LosePower]
}

// FindServer returns the path of redis-server. An empty path means to look it up in PATH.
// The error is one line that says how to install it.
func FindServer(path string) (string, error) {
	name := path
	if name == "" {
		name = "redis-server"
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s not found (%w): install it (apt-get install redis-server; dnf install redis; brew install redis) or name its path", name, err)
	}
	return found, nil
}

var versionPattern = regexp.MustCompile(`v=(\d+\.\S+)`)

// versionCache holds the version of each binary, by path.
var versionCache sync.Map

// ServerVersion returns the version of a redis-server binary, as in "7.0.15", or "" if the
// binary does not print one.
func ServerVersion(ctx context.Context, binary string) string {
	if cached, ok := versionCache.Load(binary); ok {
		return cached.(string)
	}
	version := child.Version(ctx, versionPattern, binary, "--version")
	if ctx.Err() == nil {
		versionCache.Store(binary, version)
	}
	return version
}
