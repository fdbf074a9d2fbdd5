package redisserver

import (
	"fmt"
	"os/exec"
)

// Find returns the path of redis-server: the given one, or, when it is empty,
// that in PATH. The error is one line that says what is missing and how to get
// it.
func Find(path string) (string, error) {
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
