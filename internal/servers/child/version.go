package child

import (
	"context"
	"os/exec"
	"regexp"
	"time"
)

// versionTimeout bounds how long a program may take to print its version. A JVM takes longest.
const versionTimeout = 20 * time.Second

// Version runs a command that prints the version of a program, and returns what the first group of
// the pattern matches in its output; "" if the command fails or prints no version.
func Version(ctx context.Context, pattern *regexp.Regexp, command ...string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
	if found := pattern.FindSubmatch(out); err == nil && found != nil {
		return string(found[1])
	}
	return ""
}
