package redisserver

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"sync"
	"time"
)

// Options says which servers to run.
type Options struct {
	Binary      string // path of redis-server; empty: the one in PATH
	Nodes       int    // how many servers
	AppendOnly  bool   // whether a server keeps every acknowledged write over its death, or nothing at all
	Journal     bool   // whether they can be taken back to a time before, see [Server.Restore]
	Rewind      bool   // with Journal: whether their memory can be taken back to a time before, see [Server.Rewind]
	Clocks      bool   // whether their wall clocks can be set, see [Server.SetClock]
	EverySecond bool   // with AppendOnly: whether its file is synced each second, and not at every write
	Torn        bool   // with AppendOnly: whether its file can be torn, see [Server.LosePower]
}

// FindServer returns the path of redis-server: the given one, or, when it is empty,
// that in PATH. The error is one line that says what is missing and how to get
// it.
func FindServer(path string) (string, error) {
	name := path
	if name == "" {
		name = "redis-server"
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no %s to run (%w): install it (apt-get install redis-server; dnf install redis; brew install redis) or name its path", name, err)
	}
	return found, nil
}

var versionPattern = regexp.MustCompile(`v=(\d+\.\S+)`)

// versionPatience is how long a redis-server may take to tell its version.
const versionPatience = 10 * time.Second

// toldVersions is what each binary has said, by path, so that it is asked once.
var toldVersions sync.Map

// ServerVersion asks a redis-server, given by its path or as what PATH has of that name, for its
// version, as in "7.0.15". Empty: it does not tell.
func ServerVersion(ctx context.Context, binary string) string {
	if told, ok := toldVersions.Load(binary); ok {
		return told.(string)
	}
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	told := ""
	out, err := exec.CommandContext(ctx, binary, "--version").Output()
	if ctx.Err() != nil {
		return ""
	}
	if found := versionPattern.FindSubmatch(out); err == nil && found != nil {
		told = string(found[1])
	}
	toldVersions.Store(binary, told)
	return told
}
