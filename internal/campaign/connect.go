package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Servers are the user's servers of campaigns.
type Servers struct {
	URL      string // nats://host:4222 or tls://host:4222; several are separated by commas
	Creds    string // file with the user's credentials; empty: none
	CA       string // file with certificates that sign the servers'; empty: the system's
	Cert     string // file with the certificate of the client; empty: none
	Key      string // file with its key
	Replicas int    // of what is stored, from 1 to 5; 0: 3 in a cluster, otherwise 1

	// Warn is told when the connection is lost and made again. nil: nobody is.
	Warn func(string)
}

// Validate returns an error for servers that nobody can connect to, and for secrets in the URL: other
// users of this machine can see the arguments of a process.
func (s Servers) Validate() error {
	if s.Replicas < 0 || s.Replicas > 5 {
		return fmt.Errorf("%d replicas: want 1 to 5", s.Replicas)
	}
	if (s.Cert == "") != (s.Key == "") {
		return errors.New("a certificate needs a key, and a key a certificate")
	}
	for one := range strings.SplitSeq(s.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		switch {
		case err != nil: // whose text could contain a password
			return errors.New("the URL of the servers is malformed: want nats://host:4222")
		case u.User != nil:
			return fmt.Errorf("%s: other users can see a password in an argument: put it into a file of credentials", u.Redacted())
		case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "":
			return fmt.Errorf("%s: want a URL such as nats://host:4222", one)
		}
	}
	return nil
}

// Connect connects to servers of the user's. Once connected, it connects again as long as it takes.
func Connect(ctx context.Context, s Servers) (*Engine, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	conn, err := nats.Connect(s.URL, s.options()...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.URL, err)
	}
	replicas := s.Replicas
	if replicas == 0 {
		replicas = 1
		if len(conn.Servers()) >= 3 {
			replicas = 3
		}
	}
	e, err := newEngine(ctx, conn, replicas, func() error { conn.Close(); return nil })
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", s.URL, err)
	}
	return e, nil
}

func (s Servers) options() []nats.Option {
	warn := func(format string, args ...any) {
		if s.Warn != nil {
			s.Warn(fmt.Sprintf(format, args...))
		}
	}
	list := []nats.Option{
		nats.Name("lockstorm"), nats.Timeout(5 * time.Second),
		nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(c *nats.Conn, err error) {
			if !c.IsClosed() {
				warn("the connection to the servers is lost (%v); trying again", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { warn("connected to %s again", c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, _ error) {}), // requests return their errors
	}
	if s.Creds != "" {
		list = append(list, nats.UserCredentials(s.Creds))
	}
	if s.CA != "" {
		list = append(list, nats.RootCAs(s.CA))
	}
	if s.Cert != "" {
		list = append(list, nats.ClientCert(s.Cert, s.Key))
	}
	return list
}
