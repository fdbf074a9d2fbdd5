package manifests

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/lockstorm/lockstorm/internal/manifest"
	"github.com/lockstorm/lockstorm/internal/servers/child"
)

var (
	apiserver = flag.String("apiserver", "", "path of a kube-apiserver, for the tests of a server's dry run")
	etcd      = flag.String("etcd", "", "path of an etcd for it, 3.5 or newer")
)

const apiToken = "of-this-test"

// startAPIServer starts an API server of Kubernetes on loopback, and returns a client of it. No node and no
// controller is there: nothing that it accepts is run.
func startAPIServer(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	group, err := child.NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	})
	store := daemon(t, group, "etcd", 2)
	urls := "http://" + store.Ports[0].Addr()
	peers := "http://" + store.Ports[1].Addr()
	store.Command = func() (*exec.Cmd, error) {
		return exec.Command(*etcd, "--data-dir", filepath.Join(store.Dir, "data"), "--listen-client-urls", urls, "--advertise-client-urls", urls, //nolint:gosec,noctx // the group ends it
			"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers), nil
	}
	server := daemon(t, group, "kube-apiserver", 1)
	key, tokens := filepath.Join(server.Dir, "key.pem"), filepath.Join(server.Dir, "tokens.csv")
	write(t, key, privateKey(t))
	write(t, tokens, []byte(apiToken+",me,me,system:masters\n"))
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: "https://" + server.Ports[0].Addr(), BearerToken: apiToken,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, // its certificate is its own, on loopback
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Command = func() (*exec.Cmd, error) {
		return exec.Command(*apiserver, "--etcd-servers", urls, "--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(server.Ports[0].Number()), //nolint:gosec,noctx // the group ends it
			"--cert-dir", filepath.Join(server.Dir, "certs"), "--token-auth-file", tokens, "--authorization-mode", "AlwaysAllow",
			"--service-account-issuer", "https://127.0.0.1", "--service-account-key-file", key, "--service-account-signing-key-file", key,
			"--service-cluster-ip-range", "10.0.0.0/24"), nil
	}
	server.Await = func(ctx context.Context, run *child.Run) error {
		for {
			_, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
			if err == nil {
				return nil
			}
			select {
			case <-ctx.Done():
				return err
			case <-run.Ended():
				return run.Death()
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	for _, d := range []*child.Daemon{store, server} {
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return client
}

// daemon adds a server to a group. Nobody waits for it unless its Await is replaced.
func daemon(t *testing.T, group *child.Group, name string, ports int) *child.Daemon {
	t.Helper()
	d, err := group.Add(name, ports)
	if err != nil {
		t.Fatal(err)
	}
	d.Name, d.StartTimeout = name, 5*time.Minute
	d.Await = func(context.Context, *child.Run) error { return nil }
	return d
}

// privateKey returns a key with which the server signs tokens of service accounts, of which there are none.
func privateKey(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// create has the server create the jobs of a manifest without storing them, and returns the error of the
// first that it refuses.
func create(t *testing.T, client *kubernetes.Clientset, text string) error {
	t.Helper()
	for one := range strings.SplitSeq(text, "\n---\n") {
		err := client.BatchV1().RESTClient().Post().Namespace("default").Resource("jobs").
			Param("dryRun", "All").Param("fieldValidation", "Strict").
			SetHeader("Content-Type", "application/yaml").Body([]byte(one)).Do(t.Context()).Error()
		if err != nil {
			return err
		}
	}
	return nil
}

// A server of Kubernetes accepts the jobs, with strict validation of fields, whatever the words in them are.
func TestServerAcceptsJobs(t *testing.T) {
	if *apiserver == "" {
		t.Skip("needs a kube-apiserver: make test-kubernetes")
	}
	client := startAPIServer(t)
	plain := ""
	for _, word := range words {
		for _, m := range []manifest.Manifest{workers(word), parts(word)} {
			m.Image = "example.org/lockstorm:1" // the server says what an image is called
			text, err := m.Kubernetes()
			if err != nil {
				t.Fatal(err)
			}
			if err := create(t, client, text); err != nil {
				t.Errorf("%q: %v in:\n%s", word, err, text)
			}
			plain = text
		}
	}
	for change, problem := range map[[2]string]string{
		{"completions:", "completionz:"}:             `unknown field "spec.completionz"`,
		{"completionMode: Indexed", ""}:              "backoffLimitPerIndex",
		{"restartPolicy: Never", "restartPolicy: X"}: "restartPolicy",
	} {
		text := strings.ReplaceAll(plain, change[0], change[1])
		if err := create(t, client, text); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: want an error about %s, got %v", change, problem, err)
		}
	}
	list, err := client.BatchV1().RESTClient().Get().Namespace("default").Resource("jobs").DoRaw(t.Context())
	if err != nil || !bytes.Contains(list, []byte(`"items":[]`)) {
		t.Errorf("a dry run has left something: %s, %v", list, err)
	}
}
