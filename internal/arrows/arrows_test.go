package arrows

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

// rules lists every folder that holds packages. The first whose folder fits
// counts.
var rules = []rule{
	{"env", nil, "env is what a lock may ask of any world, and so knows none"},
	{"history", nil, "a history outlives the program that wrote it"},
	{"guard", nil, "the guarded resource is the same state machine in every world"},
	{"nemesis", []string{"env", "guard"}, "a plan is data for any backend"},
	{"redlock/redisnode", []string{"env"}, "nodes carry messages and know no lock"},
	{"redlock/redlockotel", []string{"env", "redlock"}, "what is told of the lock hangs on it, and nothing on that"},
	{"redlock", []string{"env"}, "the lock that is simulated is the one that production uses"},
	{"locks", []string{"env"}, "the lock that is simulated is the one that production uses"},
	{"model", nil, "a specification must not share code with what it judges"},
	{"checker", []string{"history", "model", "internal/words"}, "a judge sees nothing but the history"},
	{"jepsen", []string{"model", "checker", "internal/page"}, "a history of Jepsen is nothing of ours; what judges it takes specifications and the word for a verdict"},
	{"counterexample", []string{"history", "model", "checker", "internal/follow", "internal/page", "internal/words"}, "a picture shows what was found in a history, whoever made it"},
	{"world", []string{"env", "nemesis", "history"}, "what all worlds do in the same way knows none of them"},
	{"sim", []string{"env", "nemesis", "history", "guard", "world"}, "a world knows no lock"},
	{"cluster", []string{"env", "nemesis", "history", "guard", "world", "redlock/redisnode", "cluster"}, "a world knows no lock; redisnode is a transport"},
	{"scenarios", []string{"internal/words", "env", "nemesis", "history", "guard", "checker"}, "a scenario is data: it names locks and workloads and runs neither"},
	{"storm/simulated", []string{"nemesis", "sim", "storm"}, "it is the simulator as storm knows it, and nothing else"},
	{"storm", []string{"env", "nemesis", "history", "checker", "scenarios", "redlock", "locks"}, "storm sees worlds only through the interface that it defines"},
	{"trace", []string{"env", "history", "checker", "storm", "internal/words"}, "a trace tells what was heard in a run, whatever lock or world it was"},
	{"report/document", []string{"internal/table", "internal/words"}, "a page knows how things look, and nothing of what they are about"},
	{"report/sequence", []string{"env", "history", "checker", "trace", "report/document", "internal/words"}, "a diagram shows what was heard in a run, whoever ran it"},
	{"report/timeline", []string{"env", "nemesis", "history", "world", "checker", "scenarios", "internal/follow", "internal/words", "report/document"}, "what is drawn of a run is told by its history, its judges and its plan, whoever ran it; of a world it takes what faults do to clocks"},
	{"results", []string{"internal/files", "history", "checker", "counterexample", "scenarios", "storm"}, "stored runs know no backend"},
	{"hunt/assume", []string{"env", "guard", "nemesis", "checker", "scenarios"}, "what is promised of a lock is data, and known before anything runs"},
	{"hunt/shrink", []string{"env", "guard", "nemesis", "scenarios"}, "who shrinks a scenario is told by others whether it still shows something"},
	{"hunt/cases", []string{"internal/words", "history", "nemesis", "checker", "scenarios", "storm"}, "a case is a file, whoever found it"},
	{"hunt/score", []string{"checker"}, "a score is figures, whoever hunted"},
	{"hunt/trophy", []string{"internal/words", "nemesis", "checker", "scenarios", "storm", "hunt", "hunt/assume", "hunt/shrink"}, "what a hunt finds is made small by those who know how"},
	{"hunt/unscripted", []string{"nemesis", "checker", "scenarios", "storm", "hunt", "hunt/assume"}, "what a row shows is hunted like anything else"},
	{"hunt", []string{"internal/words", "env", "guard", "history", "nemesis", "checker", "scenarios", "storm", "hunt/assume", "hunt/score"}, "a hunt knows no world but through storm"},
	{"report/ci", []string{"storm"}, "what was checked is told in the same words, whoever reads it"},
	{"report/junit", []string{"internal/files", "report/ci"}, "a report is written for others, and knows nothing of what was checked"},
	{"report/github", []string{"internal/words", "report/ci"}, "a report is written for others, and knows nothing of what was checked"},
	{"sweep/plots", []string{"internal/files", "sweep"}, "a picture shows points, whoever measured them"},
	{"sweep/restart", []string{"env", "nemesis", "checker", "scenarios", "sweep"}, "what is swept is data"},
	{"sweep/drift", []string{"env", "nemesis", "checker", "scenarios", "sweep"}, "what is swept is data"},
	{"sweep", []string{"internal/files", "internal/words", "nemesis", "checker", "scenarios", "storm"}, "a campaign knows no world but through storm"},
	{"tune", []string{"internal/words", "env", "guard", "history", "nemesis", "checker", "scenarios", "storm"}, "advice rests on formulas and runs, and knows no world but through storm"},
	{"report/account", []string{"internal/table", "internal/words", "checker", "scenarios", "storm", "results"}, "what runs amount to is said in the same words on terminals and on pages"},
	{"report/campaign", []string{"internal/table", "internal/words", "checker", "storm/simulated", "sweep", "sweep/plots", "sweep/drift", "sweep/restart", "report/account"}, "what a campaign has found is said in the same words on terminals and on pages"},
	{"report/choice", []string{"sweep/plots", "tune"}, "what there is to choose from is shown in the same way in files and on pages"},
	{"report", []string{"internal/packed", "internal/table", "internal/words", "history", "checker", "scenarios", "storm", "results", "hunt/cases", "jepsen", "sweep", "sweep/plots", "tune", "trace", "report/document", "report/timeline", "report/sequence", "report/account", "report/campaign", "report/choice"}, "a page shows what is stored, and runs nothing but what repeats exactly"},
	{"locktest", []string{"internal/files", "internal/words", "env", "guard", "history", "nemesis", "checker", "scenarios", "storm", "cluster/live", "cluster/memory", "cluster/process", "results", "hunt/assume"}, "it wires a lock of the user's to a backend, as the command wires ours, and imports no lock and no client of Redis"},
	{"docs", nil, "pages that the command prints"},
	{"bench", []string{"*"}, "it measures from outside, in a module of its own; nothing imports it"},
	{"cmd", []string{"*"}, "the command wires everything"},
	{"internal/words", nil, "numbers in words know nothing of what is counted"},
	{"internal/table", []string{"internal/words"}, "a table is of words, whatever they are about and wherever they are printed"},
	{"internal/terminal", []string{"internal/words"}, "a terminal shows whatever it is given"},
	{"internal/follow", []string{"history", "internal/words"}, "what goes on in a history is told by its events alone"},
	{"internal/files", nil, "a file is written whole whatever it says"},
	{"internal/page", nil, "a page knows porcupine, and nothing of what is ordered"},
	{"internal/packed", nil, "compressed bytes are the same whatever they say"},
	{"internal/flake", []string{"internal/files", "internal/table", "storm"}, "it runs the tests of whatever there is; of storm it takes the interval of a rate"},
	{"internal/mutants/hunter", []string{"nemesis", "checker", "storm/simulated", "hunt", "hunt/assume", "hunt/score", "internal/mutants"}, "it is built anew for each defect, and knows none"},
	{"internal/mutants", []string{"internal/files", "checker", "hunt/score"}, "whether a defect was found is told by a program of its own, which has the defect in it"},
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
				r.folder == "cluster" && within(folder, "cluster")
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
		folders: []string{"redlock", "locks"},
		imports: []string{"math/rand", "math/rand/v2", "crypto/rand", "net", "os"},
		except:  []string{"redlock/redisnode/"},
		why:     "time and randomness come through env, or the lock cannot be simulated",
	},
	{
		folders: []string{"sim", "world"},
		imports: []string{"net", "os", "sync", "crypto/rand"},
		why:     "a simulated world is one thread and follows from its seed",
	},
	{
		folders: []string{"env", "redlock", "locks", "history", "guard", "model", "checker", "counterexample", "jepsen", "nemesis", "world", "sim", "cluster", "scenarios", "storm", "hunt", "trace", "results", "report", "cmd"},
		imports: []string{"testing"},
		why:     "what a command line must be able to call does not need a test",
	},
	{
		folders: []string{"env"},
		imports: []string{"github.com/", "golang.org/", "go.yaml.in/", "pgregory.net/"},
		why:     "env is imported by every lock and brings nothing with it",
	},
	{
		folders: []string{"redlock", "locks"},
		imports: []string{"github.com/redis/"},
		except:  []string{"redlock/redisnode/"},
		why:     "the lock knows no Redis client",
	},
	{
		folders: []string{"locktest"},
		imports: []string{"github.com/redis/"},
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
		imports: []string{"github.com/testcontainers/", "github.com/moby/"},
		except:  []string{"cluster/container/"},
		why:     "an engine of containers is one backend's affair",
	},
	{
		folders: []string{""},
		imports: []string{"github.com/alicebob/miniredis/"},
		except:  []string{"cluster/memory/"},
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
var waiting = []string{"redlock", "locks", "storm/workloads.go", "storm/sections.go", "storm/recorder.go", "storm/redlock.go", "storm/onekeylocks.go", "storm/storelocks.go", "world", "sim"}

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
			if what := waits(n); what != "" {
				t.Errorf("%s: %s: %s", s.at(n), what, waitingWhy)
			}
			return true
		})
	}
}

func waits(n ast.Node) string {
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
			if what := waits(n); what != "" {
				t.Errorf("%s: %s: the machine's clock and goroutines stand in env/system.go", s.at(n), what)
			}
			return true
		})
	}
}

// A rule about a folder or a file that is there no more bans nothing: it has to follow
// what was renamed.
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
