package preflight

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// secondLook is how long the connection may take that is made only to find out whether
// TLS is spoken.
const secondLook = 500 * time.Millisecond

// meet connects to a server and greets it.
func meet(ctx context.Context, addr string, o redisnode.Options) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, &UnfitError{[]string{addr}, ErrNobody, reasonOf(err)}
	}
	c := newConn(conn)
	c.Server.Addr = addr
	if o.TLS != nil {
		if c, err = secure(ctx, c, o.TLS); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	if err := c.greet(ctx, o); err != nil {
		_ = c.Close()
		return nil, err
	}
	c.met = true
	return c, nil
}

// secure has TLS spoken over a connection. A Redis that does not speak it waits for the
// end of a line and says nothing, so it is asked plainly if that lasts.
func secure(ctx context.Context, c *Conn, config *tls.Config) (*Conn, error) {
	addr := c.Server.Addr
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(secondLook, func() {
		if speaksPlainly(addr) {
			cancel()
		}
	}).Stop()
	secured := tls.Client(c.conn, configFor(addr, config))
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, c.unfit(c.unsecured(err))
	}
	c = newConn(secured)
	c.Server.Addr, c.unshown = addr, len(config.Certificates) == 0 && config.GetClientCertificate == nil
	return c, nil
}

// configFor is the configuration for a host.
func configFor(addr string, of *tls.Config) *tls.Config {
	config := of.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	return config
}

// reasonOf is why there is no connection, without what the address says already.
func reasonOf(err error) string {
	var op *net.OpError
	var call *os.SyscallError
	switch {
	case errors.As(err, &call):
		return call.Err.Error()
	case timedOut(err):
		return fmt.Sprintf("%v have gone by", patience)
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

func timedOut(err error) bool {
	var slow net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout()
}

// greet says HELLO, as whoever we are to be.
func (c *Conn) greet(ctx context.Context, o redisnode.Options) error {
	words := []string{"HELLO", "2"}
	if o.Password != "" {
		words = append(words, "AUTH", user(o), o.Password)
	}
	said, err := c.Ask(ctx, words...)
	var no refusal
	switch {
	case err == nil:
		if _, is := said.([]any); !is {
			return c.unfit(&fault{ErrNotRedis, "HELLO is answered with something else"})
		}
		return nil
	case !errors.As(err, &no):
		return c.unfit(c.broken(err))
	case no.code() == "NOAUTH":
		return c.unfit(&fault{ErrPassword, ""})
	case no.code() == "WRONGPASS":
		return c.unfit(&fault{ErrWrongPass, fmt.Sprintf("user %q", user(o))})
	case strings.Contains(string(no), "unknown command"):
		return c.tooOld(ctx, o)
	}
	sentence, _, _ := strings.Cut(string(no), ". ") // being in protected mode is explained at length
	return c.unfit(refused(refusal(sentence), o, words))
}

// tooOld says how old a server is that does not know HELLO.
func (c *Conn) tooOld(ctx context.Context, o redisnode.Options) error {
	if o.Password != "" {
		_, _ = c.Ask(ctx, "AUTH", o.Password) // or INFO is refused
	}
	i, err := c.info(ctx, o)
	if err != nil {
		return err
	}
	if f := i.fault(); f != nil {
		return c.unfit(f)
	}
	return c.unfit(&fault{ErrRefuses, fmt.Sprintf("it does not know HELLO, though it is Redis %s", i["redis_version"])})
}

// alertRecord is the first byte with which TLS turns somebody away.
const alertRecord = "\x15"

// broken says what a connection means that has broken, or on which something strange was
// said.
func (c *Conn) broken(err error) *fault {
	_, secured := c.conn.(*tls.Conn)
	var strange *strangeError
	switch {
	case errors.As(err, &strange) && strings.HasPrefix(strange.said, alertRecord):
		return &fault{ErrTLS, ""}
	case strange != nil:
		return &fault{ErrNotRedis, err.Error()}
	case timedOut(err):
		return &fault{ErrSilent, fmt.Sprintf("%v have gone by", patience)}
	case secured && alerted(err):
		return &fault{ErrTrustUs, reasonOf(err)}
	case !c.met && c.unshown: // the alert may be lost with the connection
		return &fault{ErrTrustUs, "or so it seems: it hangs up after the handshake"}
	case !c.met && !secured && speaksTLS(c.Server.Addr):
		return &fault{ErrTLS, ""}
	}
	return &fault{ErrNotRedis, "it hangs up"}
}

// unsecured says why a handshake has failed.
func (c *Conn) unsecured(err error) *fault {
	var distrust *tls.CertificateVerificationError
	var host x509.HostnameError
	switch {
	case errors.As(err, &distrust):
		return &fault{ErrTrust, distrust.Err.Error()}
	case errors.As(err, &host):
		return &fault{ErrTrust, host.Error()}
	case alerted(err):
		return &fault{ErrTrustUs, reasonOf(err)}
	case speaksPlainly(c.Server.Addr):
		return &fault{ErrPlain, "it is a Redis that is spoken to plainly"}
	case timedOut(err):
		return &fault{ErrSilent, fmt.Sprintf("%v have gone by", patience)}
	}
	return &fault{ErrPlain, reasonOf(err)}
}

// alerted reports whether the other side has ended a connection in the words of TLS.
func alerted(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// look makes a connection for a moment.
func look(addr string, at func(net.Conn) bool) bool {
	conn, err := net.DialTimeout("tcp", addr, secondLook)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	return conn.SetDeadline(time.Now().Add(secondLook)) == nil && at(conn)
}

// speaksTLS tries. Nothing is said over the connection, so nobody has to be trusted.
func speaksTLS(addr string) bool {
	return look(addr, func(conn net.Conn) bool {
		err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake() //nolint:gosec // see above
		return err == nil || alerted(err)
	})
}

// speaksPlainly tries.
func speaksPlainly(addr string) bool {
	return look(addr, func(conn net.Conn) bool {
		first := make([]byte, 1)
		_, _ = io.WriteString(conn, "PING\r\n")
		_, err := io.ReadFull(conn, first)
		return err == nil && strings.ContainsAny(string(first), "+-")
	})
}
