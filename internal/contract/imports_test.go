package contract

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/lockstorm/lockstorm"

const root = "../.."

// rule says what the packages below a folder may import of the project.
type rule struct {
	folder string
	may    []string // folders, relative to the module; their parents are not included
	why    string
}

// adapter is why the adapter of a lock imports nothing internal: it is a module of its own, which may
// be of another version than this one.
const adapter = "an adapter is a module of its own: it has the public packages of any version of this one"

// rules lists folders that must know little. The first one that fits counts.
var rules = []rule{
	{"env", nil, "env is what a lock may ask of any world"},
	{"history", nil, "a history outlives the program that wrote it"},
	{"guard", nil, "the guarded resource is the same state machine in every world"},
	{"model", nil, "a specification shares no code with the program that it specifies"},
	{"nemesis", []string{"internal/form", "internal/textfmt", "env", "guard"}, "a plan is data for any backend"},
	{"redlock/redisnode", []string{"env"}, "a node client carries requests and knows no lock"},
	{"redlock/redlockotel", []string{"env", "redlock"}, "telemetry observes the lock from outside"},
	{"redlock", []string{"env"}, "the simulated lock is the one that production uses"},
	{"internal/timeline", []string{"history", "nemesis", "internal/textfmt"}, "what happened follows from the history alone; of the kinds of faults that it names, nemesis says what they do"},
	{"checker", []string{"history", "model", "nemesis", "internal/textfmt", "internal/timeline"}, "the checker sees nothing but the history; of the kinds of faults that it names, nemesis says what they do"},
	{"scenarios", []string{"internal/form", "internal/textfmt", "env", "nemesis", "history", "guard", "checker"}, "a scenario is data: it names locks and workloads and runs neither"},
	{"results/cases", []string{"internal/form", "internal/textfmt", "history", "nemesis", "checker", "scenarios", "internal/runner", "internal/runner/simulated"}, "a case is a file, whoever found it"},
	{"results", []string{"internal/files", "history", "checker", "scenarios", "internal/runner"}, "stored runs know no backend"},
	{"locktest/goredistest", []string{"locktest"}, "locktest itself knows no client of Redis, and whoever has another one compiles no go-redis"},
	{"locktest/redsynctest", []string{"locktest", "locktest/goredistest"}, adapter},
	{"locktest/redislocktest", []string{"locktest"}, adapter},
	{"locktest/rueidislocktest", []string{"env", "nemesis", "locktest"}, adapter},
	{"locktest", []string{"internal/clientlog", "internal/files", "internal/gotool", "internal/textfmt", "env", "guard", "history", "nemesis", "checker", "scenarios", "internal/runner", "internal/servers/live", "internal/servers/memory", "internal/servers/process", "results", "internal/external", "internal/search/shrink"}, "it connects a lock of the user's to a backend, and imports no lock and no Redis client"},
	{"stores", []string{"*"}, "a module of its own: nothing of this one imports it"},
	{"docs", nil, "pages that the command prints"},
	{"evidence", []string{"*"}, "it measures from outside, in a module of its own; nothing imports it"},
	{"cmd", []string{"internal/cli"}, "the program is its command line"},
	{"internal/cli", []string{"*"}, "the command connects everything"},

	{"internal/rivals", []string{"env"}, "the simulated lock is the one that runs on real servers"},
	{"internal/world", []string{"env", "nemesis", "history"}, "what the worlds share knows none of them"},
	{"internal/choice", []string{"history", "nemesis"}, "who makes the choices of a run knows neither worlds nor locks"},
	{"internal/sim", []string{"env", "nemesis", "history", "guard", "internal/choice", "internal/world"}, "a world knows no lock"},
	{"internal/servers", []string{"env", "nemesis", "history", "guard", "internal/world", "redlock/redisnode", "internal/servers"}, "a world knows no lock; redisnode only carries its requests"},
	{"internal/runner/simulated", []string{"history", "nemesis", "internal/sim", "internal/runner"}, "it connects the simulator to the runner"},
	{"internal/runner", []string{"internal/form", "env", "nemesis", "history", "checker", "scenarios", "redlock", "internal/choice", "internal/rivals", "internal/timeline"}, "the runner sees worlds only through the interface that it defines"},
	{"internal/external", []string{"internal/form", "internal/textfmt", "env", "guard", "history", "nemesis", "checker", "scenarios", "internal/runner", "internal/promises", "internal/timeline"}, "what is asked of a lock does not depend on where its nodes are, or on its language"},
	{"internal/program", []string{"env", "internal/runner", "internal/external", "internal/servers/child", "internal/servers/redisserver"}, "a program is a lock of one client, whatever the run"},
	{"internal/conform/watch", []string{"*"}, "it makes the runs that are compared"},
	{"internal/conform", []string{"env", "history"}, "the transcription of the specification shares no code with the lock or the checker"},
	{"internal/show/trace", []string{"env", "history", "checker", "internal/runner", "internal/textfmt", "internal/timeline"}, "a trace prints a run, whatever lock or world it was"},
	{"internal/promises", []string{"internal/form", "env", "guard", "history", "nemesis", "checker", "scenarios"}, "a promise speaks of a whole scenario, and knows nothing of how runs are made, searched for or shown"},
	{"internal/search/explore", []string{"*"}, "an exploration chooses in the simulator itself"},
	{"internal/search", []string{"internal/form", "internal/textfmt", "env", "guard", "history", "nemesis", "checker", "scenarios", "internal/promises", "internal/runner", "internal/timeline", "internal/choice", "internal/show/trace", "internal/search/hunt"}, "a search knows worlds only through the runner"},
	{"internal/show/document", []string{"internal/textfmt"}, "a page knows how things look, and nothing of what they are about"},
	{"internal/playground/front", nil, "it holds the built page"},
	{"internal/textfmt", nil, "text formatting knows nothing of the things it prints"},
	{"internal/form", []string{"internal/textfmt"}, "decoding knows a type by its table alone"},
	{"internal/files", nil, "files are written atomically, whatever their content"},
	{"internal", []string{"*"}, "tests of the whole"},
}

// source is one Go file that is not a test.
type source struct {
	folder string // relative to the module
	name   string
	file   *ast.File
	fset   *token.FileSet
}

// sources are the Go files of all modules here.
var sources = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && p != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s := source{name: filepath.ToSlash(rel), fset: token.NewFileSet()}
		s.folder = path.Dir(s.name)
		mode := parser.ImportsOnly
		if s.waits() {
			mode = 0
		}
		s.file, err = parser.ParseFile(s.fset, p, nil, mode)
		all = append(all, s)
		return err
	})
	return all, err
})

// each calls check for every file.
func each(t *testing.T, check func(s source)) {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		check(s)
	}
}

func (s source) imports() []string {
	var list []string
	for _, i := range s.file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		list = append(list, p)
	}
	return list
}

func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.name, s.fset.Position(n.Pos()).Line)
}

func within(folder, parent string) bool {
	return parent == "" || folder == parent || strings.HasPrefix(folder, parent+"/")
}

func TestArrows(t *testing.T) {
	each(t, func(s source) {
		i := slices.IndexFunc(rules, func(r rule) bool { return within(s.folder, r.folder) })
		if i < 0 {
			t.Errorf("%s: no rule says what the packages in %s may import; add one", s.name, s.folder)
			return
		}
		r := rules[i]
		for _, imported := range s.imports() {
			folder, ours := strings.CutPrefix(imported, module+"/")
			if !ours || folder == s.folder || slices.Contains(r.may, "*") {
				continue
			}
			allowed := slices.Contains(r.may, folder) ||
				r.folder == "internal/servers" && within(folder, "internal/servers")
			if !allowed {
				t.Errorf("%s imports %s: %s may import only %v, because %s", s.name, folder, r.folder, r.may, r.why)
			}
		}
	})
}

// ban is an import from outside that some folders must do without.
type ban struct {
	folders []string
	imports []string // a trailing slash means everything below
	except  []string // files
	why     string
}

var bans = []ban{
	{
		folders: []string{"redlock", "internal/rivals"},
		imports: []string{"math/rand", "math/rand/v2", "crypto/rand", "net", "os"},
		except:  []string{"redlock/redisnode/"},
		why:     "time and randomness come through env, or the lock cannot be simulated",
	},
	{
		folders: []string{"internal/sim", "internal/world"},
		imports: []string{"net", "os", "sync", "crypto/rand"},
		why:     "a simulated world is one thread and follows from its seed",
	},
	{
		folders: []string{"env", "redlock", "history", "guard", "model", "checker", "nemesis", "scenarios", "results", "cmd", "internal/rivals", "internal/show/excerpt", "internal/jepsen", "internal/world", "internal/sim", "internal/servers", "internal/promises", "internal/runner", "internal/search", "internal/show"},
		imports: []string{"testing"},
		why:     "what a command line must be able to call does not need a test",
	},
	{
		folders: []string{"env"},
		imports: []string{"github.com/", "golang.org/", "go.yaml.in/", "pgregory.net/"},
		why:     "env is imported by every lock and brings nothing with it",
	},
	{
		folders: []string{"redlock", "internal/rivals"},
		imports: []string{"github.com/redis/"},
		except:  []string{"redlock/redisnode/"},
		why:     "the lock knows no Redis client",
	},
	{
		folders: []string{"locktest"},
		imports: []string{"github.com/redis/"},
		except:  []string{"locktest/goredistest/", "locktest/redsynctest/", "locktest/rueidislocktest/"},
		why:     "which client a lock of the user's has is the user's affair",
	},
	{
		folders: []string{""},
		imports: []string{"go.opentelemetry.io/"},
		except:  []string{"redlock/redlockotel/"},
		why:     "who does not look at traces brings none of it into a program",
	},
	{
		folders: []string{"redlock/redlockotel"},
		imports: []string{"go.opentelemetry.io/otel/sdk/"},
		why:     "where spans and measurements go is for the program to say",
	},
	{
		folders: []string{""},
		imports: []string{module + "/stores", module + "/stores/"},
		except:  []string{"stores/", "evidence/"},
		why:     "whoever tests a lock on Redis compiles no client of another store",
	},
	{
		folders: []string{""},
		imports: []string{"github.com/moby/"},
		except:  []string{"internal/servers/container/"},
		why:     "an engine of containers is one backend's affair",
	},
	{
		folders: []string{""},
		imports: []string{"github.com/alicebob/miniredis/"},
		except:  []string{"internal/servers/memory/"},
		why:     "a Redis in memory is one backend's affair",
	},
	{
		folders: []string{""},
		imports: []string{"github.com/chromedp/"},
		except:  []string{"internal/browsertest/"},
		why:     "only tests drive a browser",
	},
}

func TestBannedImports(t *testing.T) {
	each(t, func(s source) {
		for _, b := range bans {
			if !slices.ContainsFunc(b.folders, func(f string) bool { return within(s.folder, f) }) ||
				slices.ContainsFunc(b.except, func(e string) bool { return strings.HasPrefix(s.name, e) }) {
				continue
			}
			for _, imported := range s.imports() {
				for _, banned := range b.imports {
					if imported == banned || strings.HasSuffix(banned, "/") && strings.HasPrefix(imported, banned) {
						t.Errorf("%s imports %s: %s", s.name, imported, b.why)
					}
				}
			}
		}
	})
}

// waiting lists the folders and files in which nothing may wait but through
// env, and spawning those in which no goroutine may start.
var waiting = []string{"redlock", "internal/rivals", "internal/runner/workloads.go", "internal/runner/recorder.go", "internal/runner/redlock.go", "internal/runner/locks.go", "internal/world", "internal/sim"}

const waitingWhy = "whatever waits, waits through env, or it cannot run in the simulator"

// timers are the functions of the standard library that wait or read a clock.
var timers = map[string][]string{
	"time":    {"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"},
	"sync":    {"WaitGroup", "Cond", "NewCond"},
}

// waits reports whether nothing in the file may wait but through env.
func (s source) waits() bool {
	return !strings.HasPrefix(s.name, "redlock/redisnode/") &&
		slices.ContainsFunc(waiting, func(w string) bool { return within(s.folder, w) || s.name == w })
}

func TestWaitingThroughEnv(t *testing.T) {
	found := 0
	each(t, func(s source) {
		if !s.waits() {
			return
		}
		found++
		ast.Inspect(s.file, func(n ast.Node) bool {
			if what := waitingCode(n); what != "" {
				t.Errorf("%s: %s: %s", s.at(n), what, waitingWhy)
			}
			return true
		})
	})
	if found < 50 {
		t.Errorf("only %d files found: this test looks in the wrong place", found)
	}
}

func waitingCode(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a go statement"
	case *ast.SelectStmt:
		return "a select"
	case *ast.ChanType:
		return "a channel"
	case *ast.SendStmt:
		return "a send to a channel"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "a receive from a channel"
		}
	case *ast.SelectorExpr:
		if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(timers[pkg.Name], n.Sel.Name) {
			return path.Base(pkg.Name) + "." + n.Sel.Name
		}
	}
	return ""
}
