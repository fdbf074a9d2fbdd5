package manifest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// workers is a manifest for a campaign on servers, parts one without.
func workers() Manifest {
	return Manifest{
		Name: "delay", Binary: "lockstorm", Image: "registry.example/lockstorm:1", Machines: 8, Workers: 4, Time: 90 * time.Minute, Memory: 8192,
		Servers:  campaign.Servers{URL: "tls://nats-1:4222,tls://nats-2:4222", Creds: "ci.creds", CA: "ca.pem"},
		Campaign: "sweep-0a1b2c3d", Secret: "nats",
	}
}

func parts() Manifest {
	return Manifest{
		Name: "delay", Binary: "lockstorm", Image: "registry.example/lockstorm:1", Machines: 3, Workers: 4, Time: 90 * time.Minute, Memory: 8192,
		Command: []string{"sweep", "restart-delay", "--runs", "1000000"}, Out: "runs/delay", Claim: "results",
	}
}

// kinds are the functions that make a text.
var kinds = map[string]func(Manifest) (string, error){
	"slurm.sh": Manifest.Slurm, "kubernetes.yaml": Manifest.Kubernetes, "compose.yaml": Manifest.Compose,
}

func TestGolden(t *testing.T) {
	for name, m := range map[string]Manifest{"workers": workers(), "parts": parts()} {
		for kind, write := range kinds {
			text, err := write(m)
			if err != nil {
				t.Fatal(err)
			}
			testkit.GoldenFile(t, filepath.Join("testdata", name+"."+kind), text, "lockstorm campaign manifest writes another text.")
		}
	}
}

// hostile are words that break out of careless quotes.
var hostile = []string{
	`$(touch broken)`, "`touch broken`", `'; touch broken; '`, `"; touch broken; "`, "line\ntouch broken\n", "\ttab", `back\slash\`,
	`${HOME} $HOME $$ $`, ": ", "a: b", "- x", "# no comment", "#SBATCH --array=1-1000", "\n#SBATCH --time=1", "{{.Name}}", "*alias", "&anchor", "!!binary", "%x", "@x",
	"null", "yes", "1e3", "", " ", "~", "é ☂ \u2028 \u0085 \x7f", "\r\n---\r\nkind: Pod", "*", "?", "[x]", "{x}", "|", ">", "<<", "$(JOB_COMPLETION_INDEX)",
}

// hostileParts has a hostile word wherever a word of the user's goes.
func hostileParts(word string) Manifest {
	m := parts()
	m.Command = []string{"sweep", word, "--vary", word}
	m.Out, m.Image, m.Claim = "dir/"+word, "image"+word, "claim"+word
	return m
}

// Law: the shell gives lockstorm the words of the user as they are, and runs nothing else.
func TestHostileWordsInAShell(t *testing.T) {
	for _, word := range hostile {
		dir := t.TempDir()
		m := hostileParts(word)
		m.Machines, m.Binary = 2, filepath.Join(dir, "it's lockstorm")
		if err := os.WriteFile(m.Binary, []byte("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		text, err := m.Slurm()
		if err != nil {
			t.Fatal(err)
		}
		out := "dir/" + word
		wantWords(t, run(t, dir, text, "SLURM_ARRAY_TASK_ID=7"),
			"sweep", word, "--vary", word, "--parallel", "4", "--shard", "auto/2", "--out", out+"/part-7")
		wantWords(t, run(t, dir, text, "SLURM_ARRAY_TASK_ID="),
			"merge", "--out", filepath.Join(out, "merged"), filepath.Join(out, "part-1"), filepath.Join(out, "part-2"))
		if _, err := os.Stat(filepath.Join(dir, "broken")); err == nil {
			t.Errorf("%q: a command of the word was run", word)
		}

		m = workers()
		m.Binary, m.Servers.Creds = filepath.Join(dir, "it's lockstorm"), "creds"+word
		m.Servers.URL = "nats://a'$(touch,nats://broken)'b:1"
		if text, err = m.Slurm(); err != nil {
			t.Fatal(err)
		}
		wantWords(t, run(t, dir, text, "SLURM_ARRAY_TASK_ID=1"),
			"work", "--nats", m.Servers.URL, "--creds", "creds"+word, "--tls-ca", "ca.pem", "--campaign", "sweep-0a1b2c3d", "--workers", "4", "--once")
	}
}

// run runs a script in a directory, and returns the words that its command was given.
func run(t *testing.T, dir, script, env string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v:\n%s", err, script)
	}
	var words []string
	for w := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		words = append(words, string(w))
	}
	return words
}

func wantWords(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Law: #SBATCH lines, which Slurm reads before the first command, have no word of the user's.
func TestHostileWordsAreNoOptionsOfSlurm(t *testing.T) {
	options := func(m Manifest) string {
		text, err := m.Slurm()
		if err != nil {
			t.Fatal(err)
		}
		var head []string
		for line := range strings.Lines(text) {
			if line != "\n" && !strings.HasPrefix(line, "#") {
				return strings.Join(head, "")
			}
			head = append(head, line)
		}
		return ""
	}
	for _, word := range hostile {
		if got, want := options(hostileParts(word)), options(parts()); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}

// job is what the test reads of a Job.
type job struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Image   string
					Command []string
				}
				Volumes []struct {
					PersistentVolumeClaim struct {
						ClaimName string `yaml:"claimName"`
					} `yaml:"persistentVolumeClaim"`
				}
			}
		}
	}
}

// Law: YAML gives Kubernetes the words of the user as they are, with two dollars for one where it
// replaces variables.
func TestHostileWordsInAJob(t *testing.T) {
	for _, word := range hostile {
		text, err := hostileParts(word).Kubernetes()
		if err != nil {
			t.Fatal(err)
		}
		d, documents := yaml.NewDecoder(strings.NewReader(text)), 0
		for j := (job{}); d.Decode(&j) == nil; j = (job{}) {
			documents++
			pod := j.Spec.Template.Spec
			if j.Kind != "Job" || len(pod.Containers) != 1 || pod.Containers[0].Image != "image"+word || pod.Volumes[1].PersistentVolumeClaim.ClaimName != "claim"+word {
				t.Fatalf("%q: %+v", word, j)
			}
			if documents == 1 {
				wantWords(t, pod.Containers[0].Command, "lockstorm", "sweep", literal(word), "--vary", literal(word),
					"--parallel", "4", "--shard", "auto/3", "--out", "/results/part-$(JOB_COMPLETION_INDEX)")
			}
		}
		if documents != 2 {
			t.Errorf("%q: %d documents:\n%s", word, documents, text)
		}
	}
}

// Law: likewise for compose.
func TestHostileWordsInACompose(t *testing.T) {
	for _, word := range hostile {
		text, err := hostileParts(word).Compose()
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Services map[string]struct {
				Image      string
				Entrypoint []string
				Volumes    []struct{ Source string }
			}
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		one := file.Services["part-2"]
		if len(file.Services) != 4 || one.Image != "image"+literal(word) || one.Volumes[0].Source != "dir/"+literal(word) {
			t.Errorf("%q: %+v", word, file)
		}
		wantWords(t, one.Entrypoint, "lockstorm", "sweep", literal(word), "--vary", literal(word),
			"--parallel", "4", "--shard", "auto/3", "--out", "/results/part-2")
	}
}

func TestRejected(t *testing.T) {
	with := func(m Manifest, change func(*Manifest)) Manifest {
		change(&m)
		return m
	}
	for want, m := range map[string]Manifest{
		"other users can see a password":              with(workers(), func(m *Manifest) { m.Servers.URL = "nats://me:secret@ci:4222" }),
		`name "a b" of the job: want up to 60`:        with(workers(), func(m *Manifest) { m.Name = "a b" }),
		`name "a-" of the job: want up to 60`:         with(workers(), func(m *Manifest) { m.Name = "a-" }),
		`campaign "x\ny": want a name`:                with(workers(), func(m *Manifest) { m.Campaign = "x\ny" }),
		"0 machines: want 1 to 1000":                  with(workers(), func(m *Manifest) { m.Machines = 0 }),
		"1001 machines: want 1 to 1000":               with(workers(), func(m *Manifest) { m.Machines = 1001 }),
		"0 workers: want at least 1":                  with(workers(), func(m *Manifest) { m.Workers = 0 }),
		"0 MiB of memory: want at least 1":            with(workers(), func(m *Manifest) { m.Memory = 0 }),
		`binary "-x": want lockstorm`:                 with(workers(), func(m *Manifest) { m.Binary = "-x" }),
		`"\xff": want UTF-8`:                          with(workers(), func(m *Manifest) { m.Servers.Creds = "\xff" }),
		`"a\x00": want UTF-8`:                         with(parts(), func(m *Manifest) { m.Command[1] = "a\x00" }),
		"with NATS servers the campaign has the comm": with(workers(), func(m *Manifest) { m.Command = []string{"sweep"} }),
		"need the URL of NATS servers":                with(parts(), func(m *Manifest) { m.Campaign = "x" }),
		"or a command to divide":                      with(parts(), func(m *Manifest) { m.Command = nil }),
		`command "debate": without NATS servers want`: with(parts(), func(m *Manifest) { m.Command = []string{"debate"} }),
		`directory "-x": it looks like a flag`:        with(parts(), func(m *Manifest) { m.Out = "-x" }),
		"the command contains --":                     with(parts(), func(m *Manifest) { m.Command = []string{"sweep", "--", "x"} }),
	} {
		for kind, write := range kinds {
			text, err := write(m)
			if err == nil || text != "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret@") {
				t.Errorf("%s: got %v, want %s", kind, err, want)
			}
		}
	}
	for _, c := range []struct {
		write func(Manifest) (string, error)
		m     Manifest
		want  string
	}{
		{Manifest.Slurm, with(workers(), func(m *Manifest) { m.Time = time.Minute }), "a time limit of 1m0s: want at least 3m0s"},
		{Manifest.Slurm, with(parts(), func(m *Manifest) { m.Out = "" }), "want a directory for the parts"},
		{Manifest.Compose, with(parts(), func(m *Manifest) { m.Out = "" }), "want a directory for the parts"},
		{Manifest.Compose, with(parts(), func(m *Manifest) { m.Image = "" }), "want an image"},
		{Manifest.Kubernetes, with(parts(), func(m *Manifest) { m.Claim = "" }), "want the PersistentVolumeClaim"},
		{Manifest.Kubernetes, with(workers(), func(m *Manifest) { m.Secret = "" }), "want the Secret"},
		{Manifest.Kubernetes, with(workers(), func(m *Manifest) { m.Time = 0 }), "a time limit of 0s: want at least 1s"},
		{Manifest.Kubernetes, with(workers(), func(m *Manifest) { m.Name = strings.Repeat("a", 60) }), "too long for the names of pods"},
	} {
		if _, err := c.write(c.m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// An exploration has states for parts, and no directory of its own.
func TestExploration(t *testing.T) {
	m := parts()
	m.Command, m.Out, m.Machines = []string{"explore", "calm", "--deviations", "2"}, "a,b", 2
	text, err := m.Slurm()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`exec lockstorm explore calm --deviations 2 --workers 4 --shard auto/2 --state a,b/part-"$SLURM_ARRAY_TASK_ID".json`,
		`exec lockstorm explore --merge '"a,b/part-1.json","a,b/part-2.json"' calm --deviations 2`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in:\n%s", part, text)
		}
	}
}
