//go:build browser

package front

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/playground"
	"github.com/lockstorm/lockstorm/internal/playground/host"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// These tests look at the built page in a browser: make playground builds it.

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// served serves the built page with the runs of a directory, and returns its address.
func served(t testing.TB, runs string) string {
	t.Helper()
	if _, err := os.Stat("dist/index.html"); err != nil {
		t.Fatalf("the page is not built (make playground): %v", err)
	}
	handler, err := host.Host{Files: os.DirFS("dist"), Runs: []string{runs}}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// visit opens a view of the page, and waits until it is complete.
func visit(t testing.TB, address, view string, s browsertest.Screen) *browsertest.Page {
	t.Helper()
	p := browsertest.Visit(t, address+"#"+view, s)
	path, _, _ := strings.Cut(view, "?")
	p.Until(fmt.Sprintf(`document.documentElement.dataset.shown === %q && playground.engine.loaded`, path))
	return p
}

// click clicks the first button with a text within an element.
func click(p *browsertest.Page, within, text string) {
	do(p, fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent === %q || b.getAttribute("aria-label") === %q).click()`, within+" button", text, text))
}

func do(p *browsertest.Page, script string) { browsertest.Eval[any](p, "void ("+script+")") }

// mainText is the text of the view.
func mainText(p *browsertest.Page) string {
	return browsertest.Eval[string](p, `document.getElementById("main").textContent`)
}

// asked makes a call of package playground in the page.
func asked[A any](p *browsertest.Page, name string, argument any) A {
	text, _ := json.Marshal(argument)
	return browsertest.Eval[A](p, fmt.Sprintf(`playground.engine.call(%q, %s)`, name, text))
}

// Each row of the debate has the same verdicts and traces in the browser as in this program.
func TestPlaygroundVerdicts(t *testing.T) {
	p := visit(t, served(t, ""), "/debate", browsertest.Desktop)
	before := p.Requests()
	for _, topic := range asked[[]playground.Topic](p, "debate", playground.None{}) {
		for _, row := range topic.Rows {
			request := playground.RunsRequest{Scenario: row.Scenario, First: 1, Runs: 3}
			want, err := playground.Runs(request)
			if err != nil {
				t.Fatal(err)
			}
			if got := asked[playground.RunsAnswer](p, "runs", request); len(got.Runs) != 3 || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: in the browser %+v, here %+v", row.Name, got, want)
			}
		}
	}
	if asks := p.Requests() - before; asks > 0 {
		t.Errorf("the runs made %d requests", asks)
	}
}

// A reader runs a row, opens the seed that violates it, and sees what happened.
func TestPlaygroundRow(t *testing.T) {
	p := visit(t, served(t, ""), "/debate", browsertest.Desktop)
	click(p, "#row-crash-restart", "run 100 seeds")
	p.Until(`document.querySelector("#row-crash-restart .squares")?.children.length === 100`)
	if said := browsertest.Eval[string](p, `document.querySelector("#row-crash-restart [role=status]").textContent`); !strings.HasPrefix(said, "as expected in 100 runs: B V1") {
		t.Errorf("it says %q", said)
	}
	// The squares are one stop for the tabulator, and the arrow keys go through them.
	do(p, `document.querySelector("#row-crash-restart .squares button").focus()`)
	p.Press(browsertest.Right + browsertest.Right + browsertest.Left)
	if said := browsertest.Eval[string](p, `document.activeElement.getAttribute("aria-label")`); !strings.HasPrefix(said, "seed 2: ") {
		t.Errorf("the focus is at %q", said)
	}
	if stops := browsertest.Eval[int](p, `document.querySelectorAll("#row-crash-restart .squares [tabindex='0']").length`); stops != 1 {
		t.Errorf("the squares have %d stops", stops)
	}
	do(p, `document.querySelector("#row-crash-restart .squares .violated").click()`)
	p.Until(`lockstorm.timelines.length === 1`)
	for _, part := range []string{"lease exclusion", "The trace hash of this run is", "lockstorm run crash-restart --seed"} {
		if !strings.Contains(mainText(p), part) {
			t.Errorf("the run does not say %q", part)
		}
	}
	if hash := browsertest.Eval[string](p, `location.hash`); !strings.HasPrefix(hash, "#/run?replay=v1.crash-restart.") {
		t.Errorf("its link is %s", hash)
	}
}

// Whoever goes to another view by keyboard is at its title, and the link to the content leaves the
// address as it is.
func TestPlaygroundFocus(t *testing.T) {
	p := visit(t, served(t, ""), "/debate", browsertest.Desktop)
	browsertest.Eval[any](p, `document.querySelector(".skip").click()`)
	if at := browsertest.Eval[string](p, `document.activeElement.id + location.hash`); at != "main#/debate" {
		t.Errorf("the link to the content leads to %s", at)
	}
	browsertest.Eval[any](p, `void (location.hash = "#/edit")`)
	p.Until(`document.activeElement.textContent === "Write your own"`)
	browsertest.Eval[any](p, `history.back()`)
	p.Until(`document.activeElement.textContent === "The debate"`)
}

// A slider that was moved to a number that goes together with nothing can be reset. The link of a run that
// was changed by a slider leads to the same run.
func TestPlaygroundLink(t *testing.T) {
	address := served(t, "")
	p := visit(t, address, "/numbers", browsertest.Desktop)
	p.Until(`document.querySelector(".knob input[type=number]")`)
	turn := func(nth int, value, until string) {
		do(p, fmt.Sprintf(`((f) => { f.value = %q; f.dispatchEvent(new Event("change")); })(document.querySelectorAll(".knob input[type=number]")[%d])`, value, nth))
		p.Until(until)
	}
	turn(2, "2", `/Invalid combination: .*nodes/.test(document.querySelector(".columns .notice.open")?.textContent)`) // of which the plan names more
	click(p, ".columns", "reset")
	p.Until(`document.querySelectorAll(".knob input[type=number]")[2].value === "5"`)
	turn(0, "1500", `playground.current.scenario.includes("ttl: 1.5s")`)
	click(p, ".view", "open a run")
	p.Until(`lockstorm.timelines.length === 1 && location.hash.includes("trace=")`)
	trace := browsertest.Eval[string](p, `document.getElementById("main").textContent.match(/The trace hash of this run is ([0-9a-f]{16})/)[1]`)
	link := browsertest.Eval[string](p, `location.hash.slice(1)`)
	again := visit(t, address, link, browsertest.Desktop)
	again.Until(`lockstorm.timelines.length === 1`)
	if text := mainText(again); !strings.Contains(text, "The trace hash of this run is "+trace) || strings.Contains(text, "not the run of the link") {
		t.Errorf("the link %s leads to another run than %s", link, trace)
	}
	linked, err := playground.FollowLink(playground.Fragment{Text: link})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := playground.Runs(playground.RunsRequest{Scenario: linked.Scenario, First: linked.Seed, Runs: 1})
	if err != nil || lines.Runs[0].Trace != trace {
		t.Errorf("the command line makes the run %+v of the link: %v", lines, err)
	}
}

// The timeline is played: the line of the time moves, and the diagram of the messages with it.
func TestPlaygroundPlays(t *testing.T) {
	p := visit(t, served(t, ""), "/run?seed=1&scenario="+packedRow(t, "crash-restart"), browsertest.Desktop)
	p.Until(`lockstorm.timelines.length === 1`)
	click(p, ".tl-player", "next event")
	first := browsertest.Eval[float64](p, `lockstorm.timelines[0].at()`)
	click(p, ".tl-player", "next event")
	if second := browsertest.Eval[float64](p, `lockstorm.timelines[0].at()`); second <= first {
		t.Errorf("the next event after %g is at %g", first, second)
	}
	if browsertest.Eval[int](p, `document.querySelectorAll("svg.sequence .now").length`) != 1 {
		t.Error("the diagram of the messages has no mark")
	}
	click(p, ".tl-player", "▶ play")
	p.Until(fmt.Sprintf(`lockstorm.timelines[0].at() > %g`, first+1e6))
	click(p, ".tl-player", "❚❚ pause")
}

// packedRow returns a scenario of the table as links have it that are not of the table.
func packedRow(t *testing.T, name string) string {
	t.Helper()
	s := mustFind(t, name)
	s.Summary += " (a copy)"
	link, err := playground.Link(playground.Linked{Scenario: printed(t, s), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, packed, _ := strings.Cut(link.Text, "scenario=")
	packed, _, _ = strings.Cut(packed, "&")
	return packed
}

// Two locks are played together.
func TestPlaygroundBeside(t *testing.T) {
	p := visit(t, served(t, ""), "/beside?trial=crash&a=redlock&b=single-node&seed=1", browsertest.Desktop)
	p.Until(`lockstorm.timelines.length === 2`)
	browsertest.Eval[any](p, `lockstorm.timelines[0].go(5e8)`)
	if at := browsertest.Eval[float64](p, `lockstorm.timelines[1].at()`); at != 5e8 {
		t.Errorf("the other timeline is at %g", at)
	}
}

// The editor shows mistakes at their lines, and offers names and values.
func TestPlaygroundEditor(t *testing.T) {
	p := visit(t, served(t, ""), "/edit", browsertest.Desktop)
	p.Until(`document.querySelector(".cm-content")`)
	browsertest.Eval[any](p, `document.querySelector(".cm-content").focus()`)
	p.Press(browsertest.Home + "x")
	p.Until(`document.querySelector(".problems li")`)
	if said := browsertest.Eval[string](p, `document.querySelector(".problems").textContent`); !strings.HasPrefix(said, "line 1: ") {
		t.Errorf("it says %q", said)
	}
	p.Until(`document.querySelector(".cm-lint-marker-error")`)
	for typed, offered := range map[string]string{
		"\ngua":                                  "guard",
		"\npersistence: n":                       "none",
		"\nlock:\n  qu":                          "quarantine",
		"\nplan:\n  - cra":                       "crash",
		"\nplan:\n  - crash: {node: 1}\n    sta": "start",
		"\nplan:\n  - crash: {node: 1}\n    start:\n      ste": "step",
		"\nclients:\n- workload: sec":                          "section",
	} {
		browsertest.Eval[any](p, `void (document.querySelector(".cm-content").focus(), getSelection().selectAllChildren(document.querySelector(".cm-content")))`)
		p.Press("name: mine")
		browsertest.Eval[any](p, fmt.Sprintf(`document.execCommand("insertText", false, %q)`, typed[:len(typed)-1]))
		p.Press(typed[len(typed)-1:])
		p.Until(fmt.Sprintf(`[...document.querySelectorAll(".cm-tooltip-autocomplete li")].some((e) => e.textContent.trim() === %q)`, offered))
		p.Press(browsertest.Escape)
	}
}

// Nothing is cut off, from a phone to a wide screen. Whoever has only a keyboard reaches everything: each
// control of the page can be focused, and has a name.
func TestPlaygroundFits(t *testing.T) {
	address := served(t, "")
	for _, view := range []string{"/debate", "/numbers", "/beside?trial=crash&a=redlock&b=redlock-fenced&seed=1", "/edit", "/yours", "/run?seed=1&scenario=" + packedRow(t, "crash-restart")} {
		p := visit(t, address, view, browsertest.Desktop)
		if lost := browsertest.Eval[[]string](p, `[...document.querySelectorAll("[onclick], button, a, input, select, summary")].filter((e) => e.tabIndex < 0 && !e.closest(".cm-editor, .squares")).map((e) => e.outerHTML.slice(0, 80))`); len(lost) > 0 {
			t.Errorf("%s: keys do not reach %v", view, lost)
		}
		if unnamed := browsertest.Eval[[]string](p, `[...document.querySelectorAll("button, input, select")].filter((e) => !e.closest(".cm-editor") && !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))`); len(unnamed) > 0 {
			t.Errorf("%s: without a name: %v", view, unnamed)
		}
		for _, s := range []browsertest.Screen{browsertest.Desktop, {Width: 400, Height: 800, Touch: true}, {Width: 3840, Height: 2000}} {
			p.Resize(s)
			if over := browsertest.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				wide := browsertest.Eval[[]string](p, `[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, .cm-editor, svg")).slice(0, 4).map((e) => e.outerHTML.slice(0, 120))`)
				t.Errorf("%s at %d pixels is %d too wide: %v", view, s.Width, over, wide)
			}
		}
	}
}

// judgeInPage judges a text as a file that was dropped.
func judgeInPage(p *browsertest.Page, text string) {
	quoted, _ := json.Marshal(text)
	browsertest.Eval[any](p, fmt.Sprintf(`(() => {
		const files = new DataTransfer();
		files.items.add(new File([%s], "mine.jsonl"));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
	})()`, quoted))
}

// A history of the reader is judged in the page, and is sent nowhere. A replay string shows its run.
func TestPlaygroundJudges(t *testing.T) {
	p := visit(t, served(t, ""), "/yours", browsertest.Desktop)
	before := p.Requests()
	text, err := os.ReadFile("../../../docs/two-holders.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	judgeInPage(p, string(text))
	p.Until(`lockstorm.timelines.length === 1`)
	if said := browsertest.Eval[string](p, `document.querySelector("#main .happened").textContent`); !strings.Contains(said, "V1 lease exclusion") {
		t.Errorf("it says %q", said)
	}
	judgeInPage(p, string(text[:len(text)/2]))
	p.Until(`document.querySelector("[role=alert]")`)
	do(p, `document.getElementById("pasted").value = "lockstorm replay v1.calm.52.g2.4.crash,partition,latency.ea35f65c.2efb"`)
	click(p, ".view", "open the run")
	p.Until(`lockstorm.timelines.length === 1 && document.getElementById("main").textContent.includes("The trace hash of this run is ea35f65c")`)
	if asks := p.Requests() - before; asks > 0 {
		t.Errorf("it made %d requests", asks)
	}
}

// Each question on the first page leads to a view that answers it.
func TestPlaygroundQuestions(t *testing.T) {
	address := served(t, "")
	p := visit(t, address, "/debate", browsertest.Desktop)
	answers := map[string]string{
		"/numbers": `/^At 0\.\d+, .* From \S+ on no run violates V1/.test(document.querySelector(".curve .notice").textContent)`,
		"/beside":  `/Only redlock violates V3/.test(document.querySelector(".notice").textContent)`,
		"/yours":   `document.getElementById("pasted")`,
	}
	for _, hash := range browsertest.Eval[[]string](p, `[...document.querySelectorAll(".questions a")].map((a) => a.getAttribute("href").slice(1))`) {
		path, _, _ := strings.Cut(hash, "?")
		p := visit(t, address, hash, browsertest.Desktop)
		p.Until(`document.querySelector(".curve .notice") || document.getElementById("pasted") || lockstorm.timelines.length === 2`)
		p.Until(answers[path])
	}
}

// hostile is a text that would run a script if somebody did not escape it.
const hostile = `<img src=x onerror=hacked=1>"'</script><script>hacked=1</script>`

// Hostile texts are shown, and do nothing.
func TestPlaygroundHostileTexts(t *testing.T) {
	address := served(t, "")
	s := mustFind(t, "crash-restart")
	s.Summary = hostile
	for i := range s.Clients {
		s.Clients[i].Resource = hostile
	}
	link, err := playground.Link(playground.Linked{Scenario: printed(t, s), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := visit(t, address, link.Text, browsertest.Desktop)
	p.Until(`lockstorm.timelines.length === 1`)
	harmless(t, p)
	p = visit(t, address, "/yours", browsertest.Desktop)
	resource, _ := json.Marshal(hostile)
	judgeInPage(p, `{"format":"lockstorm-history","version":1,"lock":`+string(resource)+`,"nodes":1,"clients":2,"longest_ttl":1000000000,"bounds":{}}
{"t":0,"kind":"acquire","client":1,"resource":`+string(resource)+`,"token":`+string(resource)+`,"ttl":1000000000}
{"t":1,"kind":"granted","client":1,"resource":`+string(resource)+`,"token":`+string(resource)+`,"until":1000000000,"validity":998000000}
{"t":5,"kind":"end"}
`)
	p.Until(`lockstorm.timelines.length === 1`)
	harmless(t, p)
	for _, bad := range []string{"/run?replay=" + hostile, "/run?seed=1&scenario=" + hostile, "/" + hostile, "/edit?" + hostile} {
		p := browsertest.Visit(t, address+"#"+bad, browsertest.Desktop)
		p.Until(`document.documentElement.dataset.shown`)
		harmless(t, p)
	}
}

func harmless(t *testing.T, p *browsertest.Page) {
	t.Helper()
	if browsertest.Eval[bool](p, `"hacked" in window || document.querySelector("main img") !== null`) {
		t.Error("a text ran as a script")
	}
}

// Hostile scenarios are refused with a reason, or end.
func TestPlaygroundHostileScenarios(t *testing.T) {
	p := visit(t, served(t, ""), "/edit", browsertest.Desktop)
	aliases := "a: &a [x, x, x, x, x, x, x, x]\n"
	for n := 'b'; n < 'k'; n++ {
		aliases += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", n, n, n-1, n-1, n-1, n-1, n-1, n-1, n-1, n-1)
	}
	refused := browsertest.Eval[string](p, `playground.engine.call("check", { scenario: "[".repeat(100000) }).then((c) => c.problems[0].text, (e) => e.message)`)
	if !strings.Contains(refused, "nested too deeply") && !strings.Contains(refused, "max depth") {
		t.Errorf("of 100,000 brackets it says %q", refused)
	}
	for _, text := range []string{"", "\x00", "[[[[[", aliases, "name: " + strings.Repeat("x", 1_000_000), "nodes: 999999999"} {
		if checked := asked[playground.Checked](p, "check", playground.ScenarioText{Scenario: text}); len(checked.Problems) == 0 {
			t.Errorf("%.40q has no problem", text)
		}
	}
	endless := strings.NewReplacer("horizon: 5s", "horizon: 200000h", "rounds: 1", "rounds: 1000000").Replace(printed(t, mustFind(t, "crash-restart")))
	asked[playground.RunsAnswer](p, "runs", playground.RunsRequest{Scenario: endless, First: 1, Runs: 1})
}

func printed(t *testing.T, s scenarios.Scenario) string {
	t.Helper()
	var text strings.Builder
	if err := s.Print(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// A history of a million events is judged and drawn.
func TestPlaygroundHugeHistory(t *testing.T) {
	p := visit(t, served(t, ""), "/yours", browsertest.Desktop)
	browsertest.Eval[any](p, `(() => {
		const lines = ['{"format":"lockstorm-history","version":1,"lock":"mine","nodes":1,"clients":2,"longest_ttl":1000000000,"bounds":{}}'];
		for (let n = 0; n < 250000; n++) {
			const client = n % 2 + 1, t = n * 1000, of = '"client":' + client + ',"resource":"stock","token":"' + n + '"';
			lines.push('{"t":' + t + ',"kind":"acquire",' + of + ',"ttl":1000000000}', '{"t":' + (t + 100) + ',"kind":"granted",' + of + ',"until":' + (t + 900000000) + ',"validity":900000000}',
				'{"t":' + (t + 200) + ',"kind":"release",' + of + '}', '{"t":' + (t + 300) + ',"kind":"released",' + of + ',"outcome":"ok"}');
		}
		lines.push('{"t":250000000,"kind":"end"}', '');
		const files = new DataTransfer();
		files.items.add(new File([lines.join("\n")], "huge.jsonl"));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
	})()`)
	p.Until(`lockstorm.timelines.length === 1 || document.querySelector("[role=alert]")`)
	if said := browsertest.Eval[string](p, `document.querySelector("#main .happened").textContent`); !strings.Contains(said, "Nothing is violated") {
		t.Errorf("it says %q", said)
	}
}

// Runs on real servers are listed, and drawn while they go on.
func TestPlaygroundStoredRuns(t *testing.T) {
	dir := t.TempDir()
	e, err := runner.Prepare(simulated.Backend(), mustFind(t, "crash-restart"))
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := results.NewKeeper(dir, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, stored, err := keeper.Run(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(stored + "/history.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/live", 0o755); err != nil {
		t.Fatal(err)
	}
	half := len(whole) / 2
	if err := os.WriteFile(dir+"/live/history.jsonl", whole[:half], 0o644); err != nil {
		t.Fatal(err)
	}
	p := visit(t, served(t, dir), "/runs?name=live", browsertest.Desktop)
	p.Until(`lockstorm.timelines.length === 1`)
	if text := mainText(p); !strings.Contains(text, "The run is still going on") {
		t.Error("it does not say that the run is going on")
	}
	if err := os.WriteFile(dir+"/live/history.jsonl", whole, 0o644); err != nil {
		t.Fatal(err)
	}
	end := regexp.MustCompile(`"t":(\d+),"kind":"end"`).FindSubmatch(whole)
	p.Until(`JSON.parse(document.querySelector(".timeline script").textContent).end === ` + string(end[1]))
	browsertest.Eval[any](p, `void (location.hash = "#/runs")`)
	p.Until(`document.querySelectorAll("tbody a").length === 2`)
}

func mustFind(t *testing.T, name string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
