package redisnode

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// Certificates are those by which TLS is spoken, as PEM: another process can be told them,
// and not a [tls.Config]. The zero value trusts whom the system trusts, and shows nothing.
type Certificates struct {
	// Authorities are those by whom the nodes' certificates have to be signed.
	Authorities []byte

	// Certificate and Key are ours, where nodes want one.
	Certificate, Key []byte
}

// ErrNoCertificate is text in which there should be a certificate, and is none.
var ErrNoCertificate = errors.New("there is no certificate (PEM)")

// Config is what they mean. The error is [ErrNoCertificate] if it is about Authorities.
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

// Resolved returns the options with TLS made of Certificates, if these alone are set. [New]
// does so by itself.
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
