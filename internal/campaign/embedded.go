package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/lockstorm/lockstorm/internal/files"
)

// Embedded starts a server in this process, which keeps campaigns in a directory. It listens nowhere.
// A directory serves one process at a time.
func Embedded(ctx context.Context, dir string) (*Engine, error) {
	release, err := files.Occupy(dir, "another campaign")
	if err != nil {
		return nil, err
	}
	s, err := startServer(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), release())
	}
	stop := func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Name("lockstorm"))
	if err != nil {
		stop()
		return nil, errors.Join(err, release())
	}
	end := func() error {
		conn.Close()
		stop()
		return release()
	}
	e, err := newEngine(ctx, conn, 1, end)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), end())
	}
	e.alone = true
	return e, nil
}

// startTimeout is how long the embedded server may take to read its directory.
const startTimeout = time.Minute

func startServer(dir string) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "lockstorm", DontListen: true, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: dir,
		SyncAlways: true, // an acknowledged result outlives a loss of power
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		s.Shutdown()
		return nil, fmt.Errorf("the server of campaigns was not ready after %s", startTimeout)
	}
	return s, nil
}
