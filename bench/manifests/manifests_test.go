package manifests

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/manifest"
)

// words are of the user's; the texts must keep them as they are.
var words = []string{"plain", `$(touch x)`, "'", `"; x: "`, ": ", "- x", "# x", "a\nkind: Pod", `\`, "${HOME} $HOME $$", "é\u2028\u0085\x7f", "*x", "null", "\r\n---\r\n"}

func workers(word string) manifest.Manifest {
	return manifest.Manifest{
		Name: "delay", Binary: "/bin/" + word, Image: "image" + word, Machines: 8, Workers: 4, Time: 90 * time.Minute, Memory: 8192,
		Servers:  campaign.Servers{URL: "tls://nats-1:4222", Creds: "creds" + word, CA: "ca" + word, Cert: "cert", Key: "key"},
		Campaign: "sweep-0a1b2c3d", Secret: "nats",
	}
}

func parts(word string) manifest.Manifest {
	return manifest.Manifest{
		Name: "delay", Binary: "/bin/" + word, Image: "image" + word, Machines: 3, Workers: 4, Time: 90 * time.Minute, Memory: 8192,
		Command: []string{"sweep", word}, Out: "/out/" + strings.ReplaceAll(word, "/", ""), Claim: "results",
	}
}

func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
