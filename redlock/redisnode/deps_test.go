package redisnode_test

import (
	"os/exec"
	"strings"
	"testing"
)

// allowedModules are the modules outside the standard library that a user of the lock and of
// this package compiles: go-redis, and what go-redis itself imports.
var allowedModules = map[string]string{
	"github.com/redis/go-redis/v9":   "the client of Redis",
	"github.com/cespare/xxhash/v2":   "of go-redis",
	"go.uber.org/atomic":             "of go-redis",
	"golang.org/x/sys":               "of go-redis, through xxhash and cpu features",
	"github.com/lockstorm/lockstorm": "this module, see allowedPackages",
}

// allowedPackages are the packages of this module that may be among them.
var allowedPackages = map[string]bool{
	"github.com/lockstorm/lockstorm/env":               true,
	"github.com/lockstorm/lockstorm/redlock":           true,
	"github.com/lockstorm/lockstorm/redlock/redisnode": true,
}

// A user of the lock compiles go-redis and the standard library, and nothing of the simulator,
// the checker or their libraries. The lock without this package needs no module at all.
func TestUsersCompileOnlyGoRedis(t *testing.T) {
	for _, c := range []struct {
		pkg     string
		modules map[string]string
	}{
		{"github.com/lockstorm/lockstorm/redlock", map[string]string{"github.com/lockstorm/lockstorm": ""}},
		{"github.com/lockstorm/lockstorm/redlock/redisnode", allowedModules},
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps",
			"-f", "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{end}}", c.pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		listed := strings.Fields(string(out))
		if len(listed) == 0 {
			t.Fatalf("%s: go list -deps lists nothing", c.pkg)
		}
		for i := 0; i < len(listed); i += 2 {
			pkg, module := listed[i], listed[i+1]
			_, ok := c.modules[module]
			if !ok || module == "github.com/lockstorm/lockstorm" && !allowedPackages[pkg] {
				t.Errorf("%s depends on %s", c.pkg, pkg)
			}
		}
	}
}
