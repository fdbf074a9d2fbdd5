package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/moby/moby/client"
)

// label marks everything that this package creates. Its value names the owner.
const label = "lockstorm"

// engine is the Docker engine of this machine.
type engine struct {
	client client.APIClient
	socket string // its path
}

const unix = "unix://"

// connect finds the engine. Its errors are one line.
func connect(ctx context.Context) (*engine, error) {
	if err := checkRemover(); err != nil {
		return nil, err
	}
	if err := checkLocal(os.Getenv("DOCKER_HOST")); err != nil {
		return nil, err
	}
	docker, err := client.New(client.WithHostFromEnv())
	if err == nil {
		_, err = docker.Ping(ctx, client.PingOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("no Docker engine found (%w): start one, or name its socket in DOCKER_HOST=unix:///path", oneLine(err))
	}
	return &engine{client: docker, socket: strings.TrimPrefix(docker.DaemonHost(), unix)}, nil
}

// checkLocal returns an error unless the engine is reached over a socket of this machine.
// The ports of an engine elsewhere would not be on this machine either.
func checkLocal(host string) error {
	if host == "" || strings.HasPrefix(host, unix) {
		return nil
	}
	return fmt.Errorf("the Docker engine at %s may be on another machine, where its ports cannot be reached: name a socket in DOCKER_HOST=unix:///path", host)
}

// removers are programs with which a shell can remove a container, see remove.sh.
var removers = []string{"docker", "curl"}

func checkRemover() error {
	for _, r := range removers {
		if _, err := exec.LookPath(r); err == nil {
			return nil
		}
	}
	return errors.New("neither docker nor curl found, one of which removes the containers if this program is killed: install one (apt-get install curl; dnf install curl)")
}

// oneLine returns an error with the same text on one line.
func oneLine(err error) error { return oneLineError{err} }

type oneLineError struct{ error }

func (f oneLineError) Error() string { return strings.Join(strings.Fields(f.error.Error()), " ") }
func (f oneLineError) Unwrap() error { return f.error }

// The reasons why an engine does not support some faults.
var (
	errUsernsRemap = errors.New("this Docker engine remaps the users of containers (userns-remap), so it does not support power losses, old snapshots and failovers: use --backend process")
	errRootless    = errors.New("this Docker engine runs without root, where containers cannot use this machine's loopback, so it does not support failovers: use --backend process")
)

// userFor returns the user that the servers have to run as, or "" for the image's. It
// returns an error if the engine does not support what the options need.
func (e *engine) userFor(ctx context.Context, o Options) (user string, err error) {
	if !o.sharesFiles() {
		return "", nil
	}
	info, err := e.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return "", fmt.Errorf("get the security options of the Docker engine: %w", oneLine(err))
	}
	return decideUser(o, info.Info.SecurityOptions)
}

// decideUser is userFor for the security options of an engine.
func decideUser(o Options, security []string) (user string, err error) {
	has := func(name string) bool {
		return slices.ContainsFunc(security, func(s string) bool {
			s, _, _ = strings.Cut(s, ",")
			return s == "name="+name
		})
	}
	switch {
	case has("userns"):
		return "", errUsernsRemap
	case has("rootless") && len(o.Linked) > 0:
		return "", errRootless
	case has("rootless"): // root in a container is the user who runs the engine
		return "0:0", nil
	}
	return fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), nil
}

// Versions returns the versions of the engine, the image and its Redis. Unknown ones are
// left out.
func (b Backend) Versions() map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), pullTimeout)
	defer cancel()
	v := map[string]string{}
	e, err := connect(ctx)
	if err != nil {
		return v
	}
	if version, err := e.client.ServerVersion(ctx, client.ServerVersionOptions{}); err == nil {
		v["docker"] = version.Version
	}
	if b.Image == "" || e.ensureImage(ctx, b.Image) != nil {
		return v
	}
	if image, err := e.client.ImageInspect(ctx, b.Image); err == nil {
		v["image "+b.Image] = image.ID
		for _, line := range image.Config.Env {
			if version, is := strings.CutPrefix(line, "REDIS_VERSION="); is {
				v["redis-server"] = version
			}
		}
	}
	return v
}
