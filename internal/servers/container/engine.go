//go:build linux

package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
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

// settings are what testcontainers reads of its environment: that servers are found on
// loopback and nowhere else, and that nobody but us cleans up, for that would take an
// image out of a registry.
var settings = map[string]string{"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1", "TESTCONTAINERS_RYUK_DISABLED": "true"}

// connect finds the engine. Errors are one line.
func connect(ctx context.Context) (*engine, error) {
	if err := needRemover(); err != nil {
		return nil, err
	}
	if err := local(os.Getenv("DOCKER_HOST")); err != nil {
		return nil, err
	}
	for name, value := range settings {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	log.SetDefault(log.NewNoopLogger())
	provider, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
	if err != nil {
		return nil, fmt.Errorf("there is no Docker engine to run containers (%w): start one, or name its socket in DOCKER_HOST=unix:///path", absent(err))
	}
	host := provider.Client().DaemonHost()
	if err := local(host); err != nil {
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

// absent says where there is no engine.
func absent(err error) error {
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

// local returns an error if an engine is not spoken to over a socket of this machine: the
// ports of its containers would not be here either.
func local(host string) error {
	if host == "" || strings.HasPrefix(host, unix) {
		return nil
	}
	return fmt.Errorf("the Docker engine at %s may be on another machine, and ports on loopback are all that we speak to: name a socket in DOCKER_HOST=unix:///path", host)
}

// removers are the programs of which one lets a shell remove a container, see remove.sh.
var removers = []string{"docker", "curl"}

func needRemover() error {
	for _, r := range removers {
		if _, err := exec.LookPath(r); err == nil {
			return nil
		}
	}
	return errors.New("there is neither docker nor curl, one of which has to remove the containers if this program is killed: install one (apt-get install curl; dnf install curl)")
}

// oneLine is an error that says the same without line breaks.
func oneLine(err error) error { return flat{err} }

type flat struct{ error }

func (f flat) Error() string { return strings.Join(strings.Fields(f.error.Error()), " ") }
func (f flat) Unwrap() error { return f.error }
