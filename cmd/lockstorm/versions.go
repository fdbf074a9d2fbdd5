package main

import (
	"maps"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/storm"
)

// version is that of this program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return info.Main.Version
}

// What judges, and what speaks to servers, that is not ours.
const judgeModule = "github.com/anishathalye/porcupine"

var serverModules = []string{"github.com/redis/go-redis/v9", "github.com/Shopify/toxiproxy/v2"}

// versions says what a run on the backend is made with.
func versions(b storm.Backend) map[string]string {
	v := map[string]string{"go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		v["lockstorm"] = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v["lockstorm revision"] = s.Value
			}
		}
		for _, dep := range info.Deps {
			if dep.Path == judgeModule || !b.Exact && slices.Contains(serverModules, dep.Path) {
				v[dep.Path] = dep.Version
			}
		}
	}
	if kind, err := findBackend(b.Name); err == nil && kind.versions != nil {
		maps.Copy(v, kind.versions())
	}
	return v
}

var serverVersionPattern = regexp.MustCompile(`v=(\S+)`)

// serverVersion asks the server once, however many rows a command runs.
var serverVersion = sync.OnceValue(func() string {
	out, err := exec.Command("redis-server", "--version").Output()
	if found := serverVersionPattern.FindSubmatch(out); err == nil && found != nil {
		return string(found[1])
	}
	return "(unknown)"
})
