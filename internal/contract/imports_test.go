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

// rules lists every folder that holds packages. The first whose folder fits
// counts.
var rules = []rule{
	{"env", nil, "env is what a lock may ask of any world"},
	{"history", nil, "a history outlives the program that wrote it"},
	{"guard", nil, "the guarded resource is the same state machine in every world"},
	{"model", nil, "a specification shares no code with the program that it specifies"},
	{"nemesis", []string{"env", "guard"}, "a plan is data for any backend"},
	{"redlock/redisnode", []string{"env"}, "a node client carries requests and knows no lock"},
	{"redlock/redlockotel", []string{"env", "redlock"}, "telemetry observes the lock from outside"},
	{"redlock", []string{"env"}, "the simulated lock is the one that production uses"},
	{"checker", []string{"history", "model", "internal/textfmt"}, "the checker sees nothing but the history"},
	{"scenarios", []string{"internal/textfmt", "env", "nemesis", "history", "guard", "checker"}, "a scenario is data: it names locks and workloads and runs neither"},
	{"results/cases", []string{"internal/textfmt", "history", "nemesis", "checker", "scenarios", "internal/runner", "internal/runner/simulated"}, "a case is a file, whoever found it"},
	{"results", []string{"internal/files", "history", "checker", "scenarios", "internal/runner"}, "stored runs know no backend"},
	{"locktest/goredistest", []string{"locktest"}, "locktest itself knows no client of Redis, and whoever has another one compiles no go-redis"},
	{"locktest/redsynctest", []string{"locktest", "locktest/goredistest"}, adapter},
	{"locktest/redislocktest", []string{"locktest"}, adapter},
	{"locktest/rueidislocktest", []string{"env", "nemesis", "locktest"}, adapter},
	{"locktest", []string{"internal/clientlog", "internal/files", "internal/gotool", "internal/textfmt", "env", "guard", "history", "nemesis", "checker", "scenarios", "internal/runner", "internal/servers/live", "internal/servers/memory", "internal/servers/process", "results", "internal/external", "internal/fuzz/shrink"}, "it connects a lock of the user's to a backend, and imports no lock and no Redis client"},
	{"stores", []string{"*"}, "a module of its own: nothing of this one imports it"},
	{"docs", nil, "pages that the command prints"},
	{"evidence", []string{"*"}, "it measures from outside, in a module of its own; nothing imports it"},
	{"cmd", []string{"internal/cli"}, "the program is its command line"},
	{"internal/cli", []string{"*"}, "the command connects everything"},

	{"internal/rivals", []string{"env"}, "the simulated lock is the one that runs on real servers"},
	{"internal/clientlog", []string{"internal/textfmt"}, "a log is text, whatever the run"},
	{"internal/world", []string{"env", "nemesis", "history"}, "what the worlds share knows none of them"},
	{"internal/sim", []string{"env", "nemesis", "history", "guard", "internal/world"}, "a world knows no lock"},
	{"internal/servers", []string{"env", "nemesis", "history", "guard", "internal/world", "redlock/redisnode", "internal/servers"}, "a world knows no lock; redisnode only carries its requests"},
	{"internal/runner/simulated", []string{"history", "nemesis", "internal/sim", "internal/runner"}, "it connects the simulator to the runner"},
	{"internal/runner", []string{"env", "nemesis", "history", "checker", "scenarios", "redlock", "internal/rivals"}, "the runner sees worlds only through the interface that it defines"},
	{"internal/external", []string{"internal/textfmt", "env", "guard", "history", "nemesis", "checker", "scenarios", "internal/runner", "internal/promises"}, "what is asked of a lock does not depend on where its nodes are, or on its language"},
	{"internal/program", []string{"env", "internal/runner", "internal/external", "internal/servers/child"}, "a program is a lock of one client, whatever the run"},
	{"internal/explore", []string{"nemesis", "history", "checker", "scenarios", "internal/shard", "internal/sim", "internal/runner", "internal/runner/simulated"}, "to choose what happens in a world takes the simulator itself"},
	{"internal/inevitable", []string{"nemesis", "history", "checker", "scenarios", "internal/runner", "internal/trace", "internal/textfmt"}, "futures are runs, of any backend that can branch"},
	{"internal/rare", []string{"nemesis", "history", "checker", "scenarios", "internal/sim", "internal/runner", "internal/runner/simulated"}, "to replace random numbers of a world takes the simulator itself"},
	{"internal/jepsen", []string{"model", "checker"}, "histories of Jepsen need specifications and verdicts, and nothing else of ours"},
	{"internal/excerpt", []string{"internal/files", "history", "model", "checker"}, "a picture shows a finding in a history, whoever recorded it"},
	{"internal/trace", []string{"env", "history", "checker", "internal/runner", "internal/textfmt"}, "a trace prints a run, whatever lock or world it was"},
	{"internal/promises", []string{"env", "guard", "history", "nemesis", "checker", "scenarios"}, "a promise speaks of a whole scenario, and knows nothing of how runs are made, searched for or shown"},
	{"internal/fuzz/shrink", []string{"internal/textfmt", "env", "guard", "nemesis", "checker", "scenarios", "internal/promises", "internal/runner", "internal/fuzz"}, "shrinking runs scenarios again, on any world"},
	{"internal/fuzz", []string{"internal/textfmt", "env", "guard", "history", "nemesis", "checker", "scenarios", "internal/promises", "internal/runner"}, "a hunt knows worlds only through the runner"},
	{"internal/sweep/series", []string{"env", "nemesis", "checker", "scenarios", "internal/sweep"}, "a sweep is data"},
	{"internal/sweep", []string{"internal/files", "internal/textfmt", "nemesis", "checker", "scenarios", "internal/runner", "internal/shard"}, "a sweep knows worlds only through the runner"},
	{"internal/shard", []string{"internal/files", "internal/textfmt"}, "records are kept and joined, whatever they are of"},
	{"internal/doctor", []string{"checker"}, "it reads servers, and runs nothing"},
	{"internal/tune", []string{"internal/textfmt", "env", "guard", "history", "nemesis", "checker", "scenarios", "internal/runner", "internal/rare"}, "advice rests on formulas, runs and estimates, and knows worlds only through the runner"},
	{"internal/picture", []string{"internal/files", "internal/textfmt", "internal/sweep", "internal/tune"}, "a picture shows results, whoever measured them"},
	{"internal/report/document", []string{"internal/textfmt"}, "a page knows how things look, and nothing of what they are about"},
	{"internal/report/sequence", []string{"env", "history", "checker", "internal/follow", "internal/trace", "internal/report/document", "internal/textfmt"}, "a diagram shows a run, whoever ran it"},
	{"internal/report/timeline", []string{"env", "nemesis", "history", "internal/world", "checker", "scenarios", "internal/follow", "internal/textfmt", "internal/report/document"}, "a timeline is drawn from history, findings and plan; world says what a fault does to clocks"},
	{"internal/report/ci", []string{"internal/files", "internal/textfmt", "internal/runner"}, "a CI report knows nothing of what was checked"},
	{"internal/report/summary", []string{"internal/textfmt", "checker", "scenarios", "internal/runner", "internal/report/document"}, "verdicts are put into words, whoever found them"},
	{"internal/report/verdicts", []string{"internal/textfmt", "checker", "internal/runner", "internal/report/document", "internal/report/summary"}, "verdicts are shown, whoever found them"},
	{"internal/report/runpage", []string{"internal/packed", "internal/textfmt", "history", "checker", "internal/promises", "internal/runner", "results", "internal/inevitable", "internal/trace", "internal/report/document", "internal/report/summary", "internal/report/timeline", "internal/report/sequence", "internal/report/verdicts"}, "one run is shown, in a report or in a browser; it repeats only runs that repeat exactly"},
	{"internal/report", []string{"internal/files", "internal/textfmt", "history", "checker", "scenarios", "internal/runner", "internal/runner/simulated", "results", "results/cases", "internal/inevitable", "internal/jepsen", "internal/picture", "internal/sweep", "internal/sweep/series", "internal/tune", "internal/trace", "internal/report/document", "internal/report/runpage", "internal/report/sequence", "internal/report/summary", "internal/report/verdicts"}, "a page shows what is stored; it repeats only runs that repeat exactly"},
	{"internal/playground/assets", []string{"docs", "internal/playground", "internal/report/document", "internal/report/runpage"}, "it writes what the page shares with the reports"},
	{"internal/playground/front", nil, "it holds the built page"},
	{"internal/playground/host", []string{"history", "checker", "internal/packed", "results"}, "it lists what is stored, and judges nothing"},
	{"internal/playground/wasm", []string{"internal/playground"}, "it carries calls from JavaScript to Go"},
	{"internal/playground", []string{"internal/packed", "internal/textfmt", "nemesis", "history", "checker", "scenarios", "internal/runner", "internal/runner/simulated", "results", "results/cases", "internal/jepsen", "internal/sweep", "internal/sweep/series", "internal/report/document", "internal/report/runpage", "internal/report/summary"}, "it answers a page, and knows no browser; what needs files, processes or plots is not in it"},
	{"internal/textfmt", nil, "text formatting knows nothing of the things it prints"},
	{"internal/terminal", []string{"internal/textfmt"}, "a terminal shows whatever it is given"},
	{"internal/follow", []string{"history", "checker", "internal/textfmt"}, "events are paired and windows compared, whoever shows them"},
	{"internal/files", nil, "files are written atomically, whatever their content"},
	{"internal/packed", nil, "compressed input is read, whatever its content"},
	{"internal/gotool", nil, "it runs the go command and knows no lock"},
	{"internal", []string{"*"}, "tests of the whole"},
}

// source is one Go file that is not a test.
type source struct {
	folder string // relative to the module
	name   string
	file   *ast.File
	fset   *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != root) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, nil, 0)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		all = append(all, source{folder: filepath.ToSlash(filepath.Dir(rel)), name: filepath.ToSlash(rel), file: f, fset: fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: this test looks in the wrong place", len(all))
	}
	return all
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
	for _, s := range sources(t) {
		i := slices.IndexFunc(rules, func(r rule) bool { return within(s.folder, r.folder) })
		if i < 0 {
			t.Errorf("%s: no rule says what the packages in %s may import; add one", s.name, s.folder)
			continue
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
	}
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
		folders: []string{"env", "redlock", "history", "guard", "model", "checker", "nemesis", "scenarios", "results", "cmd", "internal/rivals", "internal/excerpt", "internal/jepsen", "internal/world", "internal/sim", "internal/servers", "internal/promises", "internal/runner", "internal/fuzz", "internal/trace", "internal/report"},
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
		except:  []string{"stores/", "bench/"},
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
	for _, s := range sources(t) {
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
	}
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

func TestWaitingThroughEnv(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasPrefix(s.name, "redlock/redisnode/") ||
			!slices.ContainsFunc(waiting, func(w string) bool { return within(s.folder, w) || s.name == w }) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if what := waitingCode(n); what != "" {
				t.Errorf("%s: %s: %s", s.at(n), what, waitingWhy)
			}
			return true
		})
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

// The clock of the machine is read in one place below the locks.
func TestOneClock(t *testing.T) {
	for _, s := range sources(t) {
		if s.folder != "env" || s.name == "env/system.go" || strings.HasPrefix(s.name, "env/clock_") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if what := waitingCode(n); what != "" {
				t.Errorf("%s: %s: the machine's clock and goroutines stand in env/system.go", s.at(n), what)
			}
			return true
		})
	}
}

// A rule about a folder or a file that does not exist bans nothing: it has to follow renames.
func TestEveryRuleIsAboutSomething(t *testing.T) {
	all := sources(t)
	is := func(what, name string) {
		if !slices.ContainsFunc(all, func(s source) bool {
			return within(s.folder, name) || s.name == name || strings.HasPrefix(s.name, name)
		}) {
			t.Errorf("%s is about %s, and there is no such folder or file", what, name)
		}
	}
	for _, r := range rules {
		is("a rule on arrows", r.folder)
		for _, name := range r.may {
			if name != "*" {
				is("what "+r.folder+" may import", name)
			}
		}
	}
	for _, b := range bans {
		for _, name := range append(slices.Clone(b.folders), b.except...) {
			is("a ban", name)
		}
	}
	for _, name := range waiting {
		is("the rule on waiting", name)
	}
}
