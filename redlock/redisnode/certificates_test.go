package redisnode_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Options that another process was told speak TLS by the same certificates.
func TestCertificatesCanBeTold(t *testing.T) {
	authority := testkit.NewAuthority(t)
	read := func(name string) []byte {
		text, err := os.ReadFile(authority.File(name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	given := redisnode.Options{Certificates: &redisnode.Certificates{Authorities: read("ca.pem"), Certificate: read("node.pem"), Key: read("node.key")}}
	told, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	var heard redisnode.Options
	if err := json.Unmarshal(told, &heard); err != nil {
		t.Fatal(err)
	}
	if heard, err = heard.Resolved(); err != nil {
		t.Fatal(err)
	}
	if !heard.TLS.RootCAs.Equal(authority.Pool) || len(heard.TLS.Certificates) != 1 {
		t.Errorf("heard %+v", heard.TLS)
	}
}

func TestBadCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		given redisnode.Certificates
		none  bool
	}{
		"no authority":            {redisnode.Certificates{Authorities: []byte("nothing")}, true},
		"a certificate, no key":   {redisnode.Certificates{Certificate: []byte("nothing")}, false},
		"a key, and nothing else": {redisnode.Certificates{Key: []byte("nothing")}, false},
	} {
		_, err := redisnode.New([]string{"127.0.0.1:1"}, redisnode.Options{Certificates: &c.given})
		if err == nil || errors.Is(err, redisnode.ErrNoCertificate) != c.none {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if o, err := (redisnode.Options{Certificates: &redisnode.Certificates{}}).Resolved(); err != nil || o.TLS == nil || o.TLS.RootCAs != nil {
		t.Errorf("whom the system trusts: %+v, %v", o.TLS, err)
	}
}
