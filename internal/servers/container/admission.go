//go:build linux

package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/moby/moby/client"
)

// Why an engine may not do for some faults.
var (
	errOthers = errors.New("this Docker engine gives containers users and a network apart from this machine's (userns-remap), so that power losses, old snapshots and failovers cannot be carried out there: --backend process can")
	errApart  = errors.New("this Docker engine runs without root, and has no container on this machine's loopback, so that failovers cannot be carried out there: --backend process can")
)

// admit asks the engine whether it can do what the servers are to be there for, and
// returns as whom they then have to run; empty: as whoever the image says.
func (e *engine) admit(ctx context.Context, o Options) (user string, err error) {
	if !o.shared() {
		return "", nil
	}
	told, err := e.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return "", fmt.Errorf("how this Docker engine keeps containers apart: %w", oneLine(err))
	}
	return admission(o, told.Info.SecurityOptions)
}

// admission is the answer to what an engine says of its security.
func admission(o Options, security []string) (user string, err error) {
	has := func(name string) bool {
		return slices.ContainsFunc(security, func(s string) bool {
			s, _, _ = strings.Cut(s, ",")
			return s == "name="+name
		})
	}
	switch {
	case has("userns"):
		return "", errOthers
	case has("rootless") && len(o.Linked) > 0:
		return "", errApart
	case has("rootless"): // whose root is whoever runs it
		return "0:0", nil
	}
	return fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), nil
}
