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

	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// probeTimeout bounds a connection that only finds out whether the server speaks TLS.
const probeTimeout = 500 * time.Millisecond

// connect connects to a server and sends HELLO.
func connect(ctx context.Context, addr string, o redisnode.Options) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, &UnfitError{[]string{addr}, ErrNobody, reasonOf(err)}
	}
	c := newConn(conn)
	c.Server.Addr = addr
	if o.TLS != nil {
		if c, err = startTLS(ctx, c, o.TLS); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	if err := c.hello(ctx, o); err != nil {
		_ = c.Close()
		return nil, err
	}
	c.greeted = true
	return c, nil
}

// startTLS starts TLS on a connection. A Redis without TLS waits for the end of a line and
// sends nothing, so after probeTimeout a second connection checks for that.
func startTLS(ctx context.Context, c *Conn, config *tls.Config) (*Conn, error) {
	addr := c.Server.Addr
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(probeTimeout, func() {
		if speaksPlainly(addr) {
			cancel()
		}
	}).Stop()
	named := config.Clone()
	if named.ServerName == "" {
		named.ServerName, _, _ = net.SplitHostPort(addr)
	}
	secured := tls.Client(c.conn, named)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, c.unfit(c.explainHandshake(err))
	}
	c = newConn(secured)
	c.Server.Addr, c.noClientCert = addr, len(config.Certificates) == 0 && config.GetClientCertificate == nil
	return c, nil
}

// reasonOf returns why there is no connection, without repeating the address.
func reasonOf(err error) string {
	var op *net.OpError
	var call *os.SyscallError
	switch {
	case errors.As(err, &call):
		return call.Err.Error()
	case timedOut(err):
		return fmt.Sprintf("no reply within %v", checkTimeout)
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

func timedOut(err error) bool {
	var slow net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout()
}

// hello sends HELLO, with user and password if there are any.
func (c *Conn) hello(ctx context.Context, o redisnode.Options) error {
	words := []string{"HELLO", "2"}
	if o.Password != "" {
		words = append(words, "AUTH", user(o), o.Password)
	}
	reply, err := c.Ask(ctx, words...)
	var no resp.Error
	switch {
	case err == nil:
		if _, is := reply.([]any); !is {
			return c.unfit(&problem{ErrNotRedis, "unexpected reply to HELLO"})
		}
		return nil
	case !errors.As(err, &no):
		return c.unfit(c.explainBroken(err))
	case no.Code() == "NOAUTH":
		return c.unfit(&problem{ErrPassword, ""})
	case no.Code() == "WRONGPASS":
		return c.unfit(&problem{ErrWrongPass, fmt.Sprintf("user %q", user(o))})
	case strings.Contains(string(no), "unknown command"):
		return c.tooOld(ctx, o)
	}
	sentence, _, _ := strings.Cut(string(no), ". ") // Redis explains its protected mode at length
	return c.unfit(explainRefusal(resp.Error(sentence), o, words))
}

// tooOld explains why a server does not know HELLO.
func (c *Conn) tooOld(ctx context.Context, o redisnode.Options) error {
	if o.Password != "" {
		_, _ = c.Ask(ctx, "AUTH", o.Password) // otherwise INFO may be refused
	}
	i, err := c.info(ctx, o)
	if err != nil {
		return err
	}
	if f := i.problem(); f != nil {
		return c.unfit(f)
	}
	return c.unfit(&problem{ErrRefuses, fmt.Sprintf("it does not support HELLO, though it is Redis %s", i["redis_version"])})
}

// alertRecord is the first byte of a TLS alert.
const alertRecord = "\x15"

// explainBroken says what a broken connection or an unexpected reply means.
func (c *Conn) explainBroken(err error) *problem {
	_, secured := c.conn.(*tls.Conn)
	var unexpected *resp.UnexpectedError
	switch {
	case errors.As(err, &unexpected) && strings.HasPrefix(unexpected.Text, alertRecord):
		return &problem{ErrTLS, ""}
	case unexpected != nil:
		return &problem{ErrNotRedis, err.Error()}
	case timedOut(err):
		return &problem{ErrSilent, fmt.Sprintf("no reply within %v", checkTimeout)}
	case secured && isTLSAlert(err):
		return &problem{ErrTrustUs, reasonOf(err)}
	case !c.greeted && c.noClientCert: // the alert may be lost with the connection
		return &problem{ErrTrustUs, "probably: it closes the connection after the handshake"}
	case !c.greeted && !secured && speaksTLS(c.Server.Addr):
		return &problem{ErrTLS, ""}
	}
	return &problem{ErrNotRedis, "it closes the connection"}
}

// explainHandshake says why a TLS handshake failed.
func (c *Conn) explainHandshake(err error) *problem {
	var distrust *tls.CertificateVerificationError
	var host x509.HostnameError
	switch {
	case errors.As(err, &distrust):
		return &problem{ErrTrust, distrust.Err.Error()}
	case errors.As(err, &host):
		return &problem{ErrTrust, host.Error()}
	case isTLSAlert(err):
		return &problem{ErrTrustUs, reasonOf(err)}
	case speaksPlainly(c.Server.Addr):
		return &problem{ErrPlain, "it is a Redis without TLS"}
	case timedOut(err):
		return &problem{ErrSilent, fmt.Sprintf("no reply within %v", checkTimeout)}
	}
	return &problem{ErrPlain, reasonOf(err)}
}

// isTLSAlert reports whether the other side ended the connection with a TLS alert.
func isTLSAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// tryConn makes a short connection and calls at with it.
func tryConn(addr string, at func(net.Conn) bool) bool {
	conn, err := net.DialTimeout("tcp", addr, probeTimeout)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	return conn.SetDeadline(time.Now().Add(probeTimeout)) == nil && at(conn)
}

// speaksTLS reports whether the server speaks TLS. It sends no data, so the certificate
// need not be verified.
func speaksTLS(addr string) bool {
	return tryConn(addr, func(conn net.Conn) bool {
		err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake() //nolint:gosec // see above
		return err == nil || isTLSAlert(err)
	})
}

// speaksPlainly reports whether the server is a Redis without TLS.
func speaksPlainly(addr string) bool {
	return tryConn(addr, func(conn net.Conn) bool {
		first := make([]byte, 1)
		_, _ = io.WriteString(conn, "PING\r\n")
		_, err := io.ReadFull(conn, first)
		return err == nil && strings.ContainsAny(string(first), "+-")
	})
}
