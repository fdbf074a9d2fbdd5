//go:build !simulated

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/address"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// addressed is the backend of the user's own servers.
func addressed(b address.Backend) runner.Backend {
	return runner.Backend{
		Ability: ability(b),
		Idle:    true,
		Nodes:   len(b.Addrs),
		Keys:    b.WatchKeys, Watched: b.WatchKeys,
		Open: func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
			w, err := b.Open(ctx, s, seed, sink)
			if err != nil {
				return nil, advised(err)
			}
			return w, nil
		},
		Versions: sync.OnceValue(func() map[string]string { return ofServersAt(b) }),
	}
}

// passwordEnv is the environment variable for the password of the servers. On the command line
// every user of the machine could see it.
const passwordEnv = "LOCKSTORM_REDIS_PASSWORD"

// addrChoice is the flags about the servers.
type addrChoice struct {
	addrs        []string
	user         string
	passwordFile string
	tls          bool
	ca           string
	cert, key    string
	db           int
	watchKeys    bool
	confirmed    bool
}

func addrFlags(set *pflag.FlagSet) func() (runner.Backend, error) {
	var c addrChoice
	set.StringSliceVar(&c.addrs, "redis", nil, "the servers, `host:port`,…: independent masters, one for each node; extra ones are not used")
	c.connectFlags(set)
	set.BoolVar(&c.watchKeys, "watch-keys", false, "connect to each server as a replica, so that clean-up and the truth of releases are judged; needs the right to PSYNC")
	set.BoolVar(&c.confirmed, "confirm-these-servers", false, "confirm that experiments may run on these servers")
	return c.backend
}

// connectFlags are the flags about connections to servers.
func (c *addrChoice) connectFlags(set *pflag.FlagSet) {
	set.StringVar(&c.user, "redis-user", "", "ACL user (default: the server's default user)")
	set.StringVar(&c.passwordFile, "redis-password-file", "", "`file` with only the password (default: $"+passwordEnv+")")
	set.BoolVar(&c.tls, "redis-tls", false, "use TLS")
	set.StringVar(&c.ca, "redis-ca", "", "`file` with CA certificates (PEM) (default: those of the system)")
	set.StringVar(&c.cert, "redis-cert", "", "`file` with a client certificate (PEM)")
	set.StringVar(&c.key, "redis-key", "", "`file` with the key of the client certificate (PEM)")
	set.IntVar(&c.db, "redis-db", 0, "`number` of the database")
}

// backend returns the backend of the flags. An [unreadyError] is the reason why it cannot be opened.
func (c *addrChoice) backend() (runner.Backend, error) {
	connect, err := c.connect()
	if err == nil {
		err = checkAddrs("redis", c.addrs)
	}
	if err != nil {
		return runner.Backend{}, err
	}
	b := address.Backend{Addrs: c.addrs, Connect: connect, WatchKeys: c.watchKeys}
	made := addressed(b)
	switch {
	case len(c.addrs) == 0:
		return made, &unreadyError{made, fmt.Errorf("--backend %s needs --redis host:port,…, one server for each node", b.Name())}
	case !c.confirmed:
		return made, &unreadyError{made, fmt.Errorf("this sets keys %s* with a TTL on %s, runs scripts on them and deletes them at the end; nothing else is changed, and no server is flushed, configured or stopped. Confirm with --confirm-these-servers",
			address.KeyPrefix, strings.Join(c.addrs, ", "))}
	}
	return made, nil
}

// checkAddrs checks the addresses in a flag.
func checkAddrs(flag string, addrs []string) error {
	for i, addr := range addrs {
		if shown := withoutUser(addr); shown != addr {
			return fmt.Errorf("--%s %q: want host:port; a user and a password are given by --redis-user and --redis-password-file, or the variable %s", flag, shown, passwordEnv)
		}
		host, port, err := net.SplitHostPort(addr)
		if err != nil || host == "" || port == "" {
			return fmt.Errorf("--%s %q: want host:port", flag, addr)
		}
		if slices.Contains(addrs[:i], addr) {
			return fmt.Errorf("--%s names %s twice: it would vote twice", flag, addr)
		}
	}
	return nil
}

// connect returns the options of connections to the servers.
func (c *addrChoice) connect() (o redisnode.Options, err error) {
	o.Username, o.DB = c.user, c.db
	if c.db < 0 {
		return o, fmt.Errorf("--redis-db %d: want 0 or more", c.db)
	}
	if o.Password, err = c.password(); err != nil {
		return o, err
	}
	if c.user != "" && o.Password == "" {
		return o, fmt.Errorf("--redis-user %s needs a password: --redis-password-file, or the variable %s", c.user, passwordEnv)
	}
	if o.Certificates, err = c.certificates(); err != nil {
		return o, err
	}
	resolved, err := o.Resolved()
	switch {
	case errors.Is(err, redisnode.ErrNoCertificate):
		return o, fmt.Errorf("--redis-ca %s has no certificate (PEM)", c.ca)
	case err != nil:
		return o, fmt.Errorf("--redis-cert and --redis-key: %w", err)
	}
	return resolved, nil
}

func (c *addrChoice) password() (string, error) {
	if c.passwordFile == "" {
		return os.Getenv(passwordEnv), nil
	}
	text, err := os.ReadFile(c.passwordFile)
	if err != nil {
		return "", fmt.Errorf("--redis-password-file: %w", err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", fmt.Errorf("--redis-password-file %s is empty", c.passwordFile)
	}
	return password, nil
}

// certificates are nil without TLS.
func (c *addrChoice) certificates() (*redisnode.Certificates, error) {
	if !c.tls {
		if c.ca != "" || c.cert != "" || c.key != "" {
			return nil, errors.New("--redis-ca, --redis-cert and --redis-key need --redis-tls")
		}
		return nil, nil
	}
	var all redisnode.Certificates
	for _, f := range []struct {
		flag, file string
		text       *[]byte
	}{{"redis-ca", c.ca, &all.Authorities}, {"redis-cert", c.cert, &all.Certificate}, {"redis-key", c.key, &all.Key}} {
		if f.file == "" {
			continue
		}
		text, err := os.ReadFile(f.file)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", f.flag, err)
		}
		if len(text) == 0 {
			return nil, fmt.Errorf("--%s %s is empty", f.flag, f.file)
		}
		*f.text = text
	}
	return &all, nil
}

// advice maps errors of a server to the flags that can solve them.
var advice = []struct {
	wrong error
	flags string
}{
	{preflight.ErrTLS, "--redis-tls"},
	{preflight.ErrPlain, "without --redis-tls"},
	{preflight.ErrTrust, "--redis-ca"},
	{preflight.ErrTrustUs, "--redis-cert and --redis-key"},
	{preflight.ErrPassword, "--redis-password-file, or the variable " + passwordEnv},
	{preflight.ErrWrongPass, "--redis-user, --redis-password-file"},
}

// advised adds the flags to an error, or to each of those that it joins.
func advised(err error) error {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, advised(one))
		}
		return errors.Join(all...)
	}
	for _, a := range advice {
		if errors.Is(err, a.wrong) {
			return fmt.Errorf("%w (%s)", err, a.flags)
		}
	}
	return err
}

// ofServersAt returns the versions of the servers. The run itself reports their errors.
func ofServersAt(b address.Backend) map[string]string {
	var versions []string
	for _, s := range b.Servers(context.Background()) {
		versions = append(versions, s.Version)
	}
	slices.Sort(versions)
	return map[string]string{"redis-server": strings.Join(slices.Compact(versions), ", ")}
}
