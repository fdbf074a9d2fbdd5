package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// PasswordEnv is the variable with the password for addresses without one, as redis-cli reads it.
const PasswordEnv = "REDISCLI_AUTH"

// replyTimeout bounds the wait for a connection and for one reply.
const replyTimeout = 3 * time.Second

// target is an address and how to connect to it.
type target struct {
	address string // host:port
	connect *redis.Options
}

func parseAll(addresses []string) ([]target, error) {
	var all []target
	for _, a := range addresses {
		t, err := parse(a)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", hidden(a), err)
		}
		if slices.ContainsFunc(all, func(other target) bool { return other.address == t.address }) {
			return nil, fmt.Errorf("%s is given twice", t.address)
		}
		all = append(all, t)
	}
	return all, nil
}

// user matches the user and the password of an address.
var user = regexp.MustCompile(`^(rediss?://)?.*@`)

// hidden returns an address without the user and the password.
func hidden(address string) string { return user.ReplaceAllString(address, "$1…@") }

var errAddress = errors.New("want HOST:PORT, redis://USER:PASSWORD@HOST:PORT or rediss://…")

// parse reads an address. With rediss, the parameters ca, cert and key name PEM files: the
// certificate authorities (default: the system's, or those of SSL_CERT_FILE), and a client's
// certificate and key.
func parse(address string) (target, error) {
	if !strings.Contains(address, "://") {
		address = "redis://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" {
		return target{}, errAddress // an error of the library contains the password
	}
	if host, port, err := net.SplitHostPort(u.Host); err != nil || host == "" || port == "" {
		return target{}, errAddress
	}
	query := u.Query()
	ca, cert, key := query.Get("ca"), query.Get("cert"), query.Get("key")
	for _, ours := range []string{"ca", "cert", "key"} {
		query.Del(ours)
	}
	u.RawQuery = query.Encode()
	o, err := redis.ParseURL(u.String())
	if err != nil {
		if text := err.Error(); strings.HasPrefix(text, "redis: unexpected option") {
			return target{}, errors.New(text)
		}
		return target{}, errAddress
	}
	if err := addFiles(o.TLSConfig, ca, cert, key); err != nil {
		return target{}, err
	}
	if o.Password == "" {
		o.Password = os.Getenv(PasswordEnv)
	}
	o.Protocol, o.PoolSize, o.MaxRetries, o.DialerRetries = 2, 1, -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.ContextTimeoutEnabled = replyTimeout, replyTimeout, replyTimeout, true
	o.DisableIdentity, o.PipelinePoolSize = true, -1
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return target{o.Addr, o}, nil
}

// addFiles reads PEM files into a TLS configuration; nil: there is no TLS.
func addFiles(config *tls.Config, ca, cert, key string) error {
	if ca+cert+key == "" {
		return nil
	}
	if config == nil {
		return errors.New("ca, cert and key need rediss://")
	}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s has no certificate (PEM)", ca)
		}
	}
	if cert+key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// inputFault is an error that the user's address is to blame for.
type inputFault struct{ text string }

func (e inputFault) Error() string { return e.text }

// explain says what an error of the first command means; nil: the server replies.
func (t target) explain(err error) error {
	var timeout net.Error
	var record tls.RecordHeaderError
	var untrusted *tls.CertificateVerificationError
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "NOAUTH"):
		return inputFault{"it requires a password: give it in the URL, or in " + PasswordEnv}
	case strings.HasPrefix(text, "WRONGPASS"), strings.Contains(text, "invalid password"):
		return inputFault{"it rejects the user or the password"}
	case errors.As(err, &untrusted):
		return inputFault{fmt.Sprintf("its certificate is not trusted: %v (rediss://…?ca=FILE)", untrusted.Err)}
	case strings.Contains(text, "remote error: tls"):
		return inputFault{text + " (rediss://…?cert=FILE&key=FILE)"}
	case errors.As(err, &record):
		return inputFault{"it does not support TLS"}
	case isRedisError(err):
		return nil
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		if t.connect.TLSConfig != nil {
			return errors.New("no reply in time; a server without TLS (redis://) would not reply either")
		}
		return errors.New("no reply in time")
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		if t.connect.TLSConfig != nil {
			return inputFault{"it closes the connection: it may require a client's certificate (rediss://…?cert=FILE&key=FILE)"}
		}
		return inputFault{"it closes the connection: it may require TLS (rediss://…), or be no Redis server"}
	case errors.As(err, new(*net.OpError)):
		return err
	}
	return inputFault{"not a Redis server: " + text}
}

// isRedisError reports whether a server replied with an error.
func isRedisError(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}
