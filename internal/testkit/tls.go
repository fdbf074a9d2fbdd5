package testkit

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Authority makes certificates for localhost, by no other name, of servers and clients.
type Authority struct {
	Pool *x509.CertPool
	Dir  string // of the files ca.pem, node.pem and node.key

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	made        tls.Certificate // what everybody has, signed by it
}

// NewAuthority makes one, and a certificate of it.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{Pool: x509.NewCertPool(), Dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a.key = a.newKey(t)
	a.certificate = a.sign(t, template, template, a.key)
	a.Pool.AddCert(a.certificate)
	a.write(t, "ca.pem", "CERTIFICATE", a.certificate.Raw)

	key := a.newKey(t)
	leaf := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"}, NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, key)
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, "node.pem", "CERTIFICATE", leaf.Raw)
	a.write(t, "node.key", "EC PRIVATE KEY", der)
	a.made = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
	return a
}

func (a *Authority) newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *Authority) sign(t testing.TB, what, by *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, what, by, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (a *Authority) write(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(a.File(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// File is the path of one of its files.
func (a *Authority) File(name string) string { return filepath.Join(a.Dir, name) }

// Client is what a client needs that trusts the authority and is trusted by it.
func (a *Authority) Client(testing.TB) *tls.Config {
	return &tls.Config{RootCAs: a.Pool, Certificates: []tls.Certificate{a.made}}
}

// commander is a server that an operator can talk to.
type commander interface {
	Do(ctx context.Context, command ...string) (any, error)
}

// Secure lets a running server speak TLS on another port, to clients with a certificate,
// and returns its address there. It goes on to speak plainly where it did.
func (a *Authority) Secure(t testing.TB, s commander) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	addr = net.JoinHostPort("localhost", strconv.Itoa(port))
	_ = l.Close()
	for _, words := range [][]string{
		{"CONFIG", "SET", "tls-cert-file", a.File("node.pem"), "tls-key-file", a.File("node.key"), "tls-ca-cert-file", a.File("ca.pem")},
		{"CONFIG", "SET", "tls-port", strconv.Itoa(port)},
	} {
		if _, err := s.Do(context.Background(), words...); err != nil {
			t.Fatal(err)
		}
	}
	return addr
}
