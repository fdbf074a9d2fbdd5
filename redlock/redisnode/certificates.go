package redisnode

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// Certificates configures TLS with PEM text, which, other than a [tls.Config], can be passed to
// another process. The zero value trusts the system's authorities and has no client certificate.
type Certificates struct {
	// Authorities are the certificate authorities that sign the nodes' certificates.
	Authorities []byte

	// Certificate and Key are the client's, for nodes that require one.
	Certificate, Key []byte
}

// ErrNoCertificate is the error of text that contains no certificate.
var ErrNoCertificate = errors.New("no certificate in the PEM text")

// Config returns the TLS configuration. The error is [ErrNoCertificate] if Authorities contains
// no certificate.
func (c *Certificates) Config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.Authorities) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(c.Authorities) {
			return nil, ErrNoCertificate
		}
	}
	if len(c.Certificate) > 0 || len(c.Key) > 0 {
		pair, err := tls.X509KeyPair(c.Certificate, c.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Resolved returns the options with TLS made from Certificates, unless TLS is set. [New] calls it.
func (o Options) Resolved() (Options, error) {
	if o.TLS != nil || o.Certificates == nil {
		return o, nil
	}
	config, err := o.Certificates.Config()
	if err != nil {
		return o, fmt.Errorf("redisnode: certificates: %w", err)
	}
	o.TLS = config
	return o, nil
}
