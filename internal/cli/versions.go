package cli

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// version returns the version of this program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return info.Main.Version
}

// setting returns what this program was built with. That of the checkout, such as vcs.time, is empty if
// the program was built elsewhere, as by go install MODULE@VERSION.
func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// versionText is what --version prints: the versions of this program, Go and the libraries that judge
// runs and talk to servers. A program that was built in a checkout has the revision and date of its
// commit too.
func versionText() string {
	v := versions(runner.Backend{})
	if date := setting("vcs.time"); date != "" {
		v["lockstorm date"] = date
	}
	var b strings.Builder
	first := []string{runner.ProgramVersion, runner.ProgramRevision, "lockstorm date", "go"}
	for _, what := range append(first, slices.Sorted(maps.Keys(v))...) {
		if v[what] != "" {
			fmt.Fprintf(&b, "%s %s\n", what, v[what])
			delete(v, what)
		}
	}
	return b.String()
}

// The libraries that judge, and that talk to servers.
const judgeModule = "github.com/anishathalye/porcupine"

var serverModules = []string{"github.com/redis/go-redis/v9", "github.com/Shopify/toxiproxy/v2"}

// versions returns the versions that a run on the backend is made with.
func versions(b runner.Backend) map[string]string {
	v := map[string]string{"go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		v[runner.ProgramVersion] = info.Main.Version
		if commit := setting("vcs.revision"); commit != "" {
			v[runner.ProgramRevision] = commit
		}
		for _, dep := range info.Deps {
			if dep.Path == judgeModule || !b.Exact && slices.Contains(serverModules, dep.Path) {
				v[dep.Path] = dep.Version
			}
		}
	}
	if b.Versions != nil {
		maps.Copy(v, b.Versions())
	}
	if b.ClientProcesses {
		v["clients"] = asProcesses
	}
	return v
}

// lastingVersions returns the versions for results that are the same wherever and whenever this
// program makes them: with the kind of processor, and with this program's version if it was built
// with one.
func lastingVersions(b runner.Backend) map[string]string { return lasting(versions(b)) }

func lasting(v map[string]string) map[string]string {
	if runner.Program(v) == "" {
		v = runner.WithoutProgram(v)
	}
	v["arch"] = runtime.GOARCH
	return v
}

// thisProgram names this program in what it stores; "" if it was built without a version.
func thisProgram() string { return runner.Program(versions(runner.Backend{Exact: true})) }

// buildSum identifies the code of this program: by the commit of its sources if it was built from just these, and
// otherwise by the executable itself.
func buildSum() (string, error) {
	if revision := setting("vcs.revision"); revision != "" && setting("vcs.modified") == "false" {
		return revision, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	sum, err := files.Sum(path)
	if err != nil {
		return "", err
	}
	return sum[:40], nil // as long as the revision of a commit
}
