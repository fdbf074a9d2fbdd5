//go:build linux

package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// label is on everything that we make. Its value is whose it is.
const label = "lockstorm"

// engine is the Docker engine of this machine.
type engine struct {
	provider *testcontainers.DockerProvider
	client   client.APIClient
	socket   string // its path
}

const unix = "unix://"

// testcontainersEnv are what testcontainers reads of its environment: that servers are found on
// loopback and nowhere else, and that nobody but us cleans up, for that would take an
// image out of a registry.
var testcontainersEnv = map[string]string{"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1", "TESTCONTAINERS_RYUK_DISABLED": "true"}

// connect finds the engine. Errors are one line.
func connect(ctx context.Context) (*engine, error) {
	if err := checkRemover(); err != nil {
		return nil, err
	}
	if err := checkLocal(os.Getenv("DOCKER_HOST")); err != nil {
		return nil, err
	}
	for name, value := range testcontainersEnv {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	log.SetDefault(log.NewNoopLogger())
	provider, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
	if err != nil {
		return nil, fmt.Errorf("there is no Docker engine to run containers (%w): start one, or name its socket in DOCKER_HOST=unix:///path", unreachable(err))
	}
	host := provider.Client().DaemonHost()
	if err := checkLocal(host); err != nil {
		return nil, err
	}
	where, err := provider.DaemonHost(ctx)
	if err == nil {
		err = redisserver.CheckLoopback(where)
	}
	if err != nil {
		return nil, fmt.Errorf("where containers publish their ports: %w", err)
	}
	return &engine{provider: provider, client: provider.Client(), socket: strings.TrimPrefix(host, unix)}, nil
}

// unreachable says where there is no engine.
func unreachable(err error) error {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = unix + defaultSocket
	}
	conn, dialling := net.Dial("unix", strings.TrimPrefix(host, unix))
	if dialling != nil {
		return oneLine(dialling)
	}
	_ = conn.Close()
	return oneLine(err) // somebody is there, and says something else
}

// defaultSocket is where an engine listens if nobody says otherwise.
const defaultSocket = "/var/run/docker.sock"

// checkLocal returns an error if an engine is not spoken to over a socket of this machine: the
// ports of its containers would not be here either.
func checkLocal(host string) error {
	if host == "" || strings.HasPrefix(host, unix) {
		return nil
	}
	return fmt.Errorf("the Docker engine at %s may be on another machine, and ports on loopback are all that we speak to: name a socket in DOCKER_HOST=unix:///path", host)
}

// removers are the programs of which one lets a shell remove a container, see remove.sh.
var removers = []string{"docker", "curl"}

func checkRemover() error {
	for _, r := range removers {
		if _, err := exec.LookPath(r); err == nil {
			return nil
		}
	}
	return errors.New("there is neither docker nor curl, one of which has to remove the containers if this program is killed: install one (apt-get install curl; dnf install curl)")
}

// oneLine is an error that says the same without line breaks.
func oneLine(err error) error { return oneLineError{err} }

type oneLineError struct{ error }

func (f oneLineError) Error() string { return strings.Join(strings.Fields(f.error.Error()), " ") }
func (f oneLineError) Unwrap() error { return f.error }

// Why an engine may not do for some faults.
var (
	errUsernsRemap = errors.New("this Docker engine gives containers users and a network apart from this machine's (userns-remap), so that power losses, old snapshots and failovers cannot be carried out there: --backend process can")
	errRootless  = errors.New("this Docker engine runs without root, and has no container on this machine's loopback, so that failovers cannot be carried out there: --backend process can")
)

// userFor asks the engine whether it can do what the servers are to be there for, and
// returns as whom they then have to run; empty: as whoever the image says.
func (e *engine) userFor(ctx context.Context, o Options) (user string, err error) {
	if !o.sharesFiles() {
		return "", nil
	}
	told, err := e.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return "", fmt.Errorf("how this Docker engine keeps containers apart: %w", oneLine(err))
	}
	return decideUser(o, told.Info.SecurityOptions)
}

// decideUser is the answer to what an engine says of its security.
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
	case has("rootless"): // whose root is whoever runs it
		return "0:0", nil
	}
	return fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), nil
}

// Versions say what a run is made with: the engine, the image, and its Redis as far as
// the image tells. What cannot be found out is left out.
func (b Backend) Versions() map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), pullTimeout)
	defer cancel()
	v := map[string]string{}
	e, err := connect(ctx)
	if err != nil {
		return v
	}
	if told, err := e.client.ServerVersion(ctx, client.ServerVersionOptions{}); err == nil {
		v["docker"] = told.Version
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
