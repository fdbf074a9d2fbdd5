package manifests

import (
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/lockstorm/lockstorm/internal/manifest"
)

// project loads a compose file as compose does: by the schema, with variables of the environment.
func project(t *testing.T, m manifest.Manifest) *types.Project {
	t.Helper()
	text, err := m.Compose()
	if err != nil {
		t.Fatal(err)
	}
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  t.TempDir(),
		Environment: types.Mapping{"HOME": "/replaced"},
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(text)}},
	})
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return p
}

func TestComposeLoads(t *testing.T) {
	for _, word := range words {
		p := project(t, workers(word))
		s := p.Services["worker"]
		checkService(t, s, 8)
		want(t, "services", len(p.Services), 1)
		want(t, "image", s.Image, "image"+word)
		want(t, "binary", s.Entrypoint[0], "/bin/"+word)
		want(t, "arguments", strings.Join(s.Entrypoint[1:], " "), "work --nats tls://nats-1:4222 --creds /run/secrets/creds --tls-ca /run/secrets/tls-ca --tls-cert /run/secrets/tls-cert --tls-key /run/secrets/tls-key --campaign sweep-0a1b2c3d --workers 4 --once")
		want(t, "secrets", len(s.Secrets), 4)
		if file := p.Secrets["creds"].File; !strings.HasSuffix(file, "/creds"+word) {
			t.Errorf("%q: credentials are in %q", word, file)
		}

		p = project(t, parts(word))
		want(t, "services", len(p.Services), 4)
		part := p.Services["part-2"]
		checkService(t, part, 1)
		want(t, "index", *part.Environment["JOB_COMPLETION_INDEX"], "1")
		want(t, "word", part.Entrypoint[2], word)
		want(t, "results", part.Volumes[0].Target, "/results")
		want(t, "directory", part.Volumes[0].Source, parts(word).Out)
		checkService(t, p.Services["merge"], 1)
		for _, name := range []string{"part-1", "part-2", "part-3"} {
			want(t, "merge waits", p.Services["merge"].DependsOn[name].Condition, types.ServiceConditionCompletedSuccessfully)
		}
	}
}

func checkService(t *testing.T, s types.ServiceConfig, replicas int) {
	t.Helper()
	want(t, "read-only root", s.ReadOnly, true)
	want(t, "capabilities", strings.Join(s.CapDrop, " "), "ALL")
	want(t, "privileges", strings.Join(s.SecurityOpt, " "), "no-new-privileges:true")
	want(t, "user", s.User, "65532:65532")
	want(t, "replicas", *s.Deploy.Replicas, replicas)
	want(t, "CPUs", s.Deploy.Resources.Limits.NanoCPUs.Value(), float32(4))
	want(t, "memory", int64(s.Deploy.Resources.Limits.MemoryBytes), int64(8<<30))
	want(t, "TMPDIR", *s.Environment["TMPDIR"], "/tmp")
	want(t, "time to stop", time.Duration(*s.StopGracePeriod), time.Minute)
}
