package main

import (
	"context"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/lockstorm/lockstorm/storm"
)

// What judges, and what speaks to servers, that is not ours.
const judgeModule = "github.com/anishathalye/porcupine"

var serverModules = []string{"github.com/redis/go-redis/v9", "github.com/Shopify/toxiproxy/v2"}

// versions says what a run on the backend is made with.
func versions(ctx context.Context, b storm.Backend) map[string]string {
	v := map[string]string{"go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		v["lockstorm"] = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v["lockstorm revision"] = s.Value
			}
		}
		for _, dep := range info.Deps {
			if dep.Path == judgeModule || b.Name == servers.Name() && slices.Contains(serverModules, dep.Path) {
				v[dep.Path] = dep.Version
			}
		}
	}
	if b.Name == servers.Name() {
		v["redis-server"] = serverVersion(ctx)
	}
	return v
}

var serverVersionPattern = regexp.MustCompile(`v=(\S+)`)

func serverVersion(ctx context.Context) string {
	out, err := exec.CommandContext(context.WithoutCancel(ctx), "redis-server", "--version").Output()
	if found := serverVersionPattern.FindSubmatch(out); err == nil && found != nil {
		return string(found[1])
	}
	return "(unknown)"
}
