package cli

import (
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// candidates returns the completions for a place in the command line.
type candidates func(cmd *cobra.Command) []cobra.Completion

// argumentsOf maps commands to the completions of their arguments. Where a file is also possible, the
// shell completes files if no name fits.
var argumentsOf = map[string]cobra.CompletionFunc{
	"ci":     offers(rowNames, cobra.ShellCompDirectiveDefault),
	"run":    first(offers(runnable, cobra.ShellCompDirectiveDefault)),
	"list":   listArguments,
	"hunt":   aScenario,
	"debate": others(rowNames),
	"sweep":  first(offers(sweepNames, cobra.ShellCompDirectiveNoFileComp)),
	"tune":   offers(questionFields, cobra.ShellCompDirectiveNoSpace),
}

// aScenario is one by its name, or a file.
var aScenario = first(offers(scenarioNames, cobra.ShellCompDirectiveDefault))

// flagChoices maps flags to the completions of their values. A flag means the same in all commands in
// which it is no number.
var flagChoices = map[string]cobra.CompletionFunc{
	colourFlag: offers(fixedChoice(texts(terminal.Whens)...), cobra.ShellCompDirectiveNoFileComp),
	"backend":  offers(backendChoices, cobra.ShellCompDirectiveNoFileComp),
	"clients":  offers(clientChoices, cobra.ShellCompDirectiveNoFileComp),
	"lock":     locks,
	"vary":     offers(scenarioFields, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace),
	"trial":    offers(trials, cobra.ShellCompDirectiveNoFileComp),
	"property": propertyNames,
	"faults":   listed(faultKinds),
	"model":    listed(fixedChoice("ownerless", "owner-aware", "fenced", "reentrant", "semaphore=2")),
	"format":   offers(formats, cobra.ShellCompDirectiveNoFileComp),
	"assume":   offers(fixedChoice(promisedWord), cobra.ShellCompDirectiveDefault),
	"picture":  directories,
	"suite":    listed(fixedChoice(allSuites...)),
	"out":      output,
	"from":     directories,
}

// shells are how the scripts are installed that cobra makes for shells.
var shells = map[string]string{
	"bash":       "  lockstorm completion bash >/etc/bash_completion.d/lockstorm",
	"zsh":        `  lockstorm completion zsh >"${fpath[1]}/_lockstorm"`,
	"fish":       "  lockstorm completion fish >~/.config/fish/completions/lockstorm.fish",
	"powershell": "  lockstorm completion powershell >>$PROFILE",
}

// ownCommands adds cobra's own commands, with examples.
func ownCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = "  lockstorm help hunt"
		case "completion":
			c.Example = shells["bash"]
			for _, shell := range c.Commands() {
				shell.Example = shells[shell.Name()]
			}
		}
	}
}

// completed adds the completions to a command and its subcommands. The scripts for shells come from
// cobra.
func completed(cmd *cobra.Command) {
	if of, ok := argumentsOf[cmd.Name()]; ok {
		cmd.ValidArgsFunction = of
	}
	for name, of := range flagChoices {
		f := cmd.LocalFlags().Lookup(name)
		if f == nil {
			f = cmd.PersistentFlags().Lookup(name)
		}
		if f != nil && !isNumber(f) {
			if err := cmd.RegisterFlagCompletionFunc(name, of); err != nil {
				panic(err) // the flag is there, and nobody else completes it
			}
		}
	}
	for _, c := range cmd.Commands() {
		completed(c)
	}
}

// isNumber reports whether a flag has a number, such as --faults of explore and --clients of tune.
func isNumber(f *pflag.Flag) bool {
	kind, _ := pflag.UnquoteUsage(f)
	return kind == "int" || kind == "number"
}

// offers completes one of some names.
func offers(of candidates, directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(of(cmd), begun), directive
	}
}

// first completes the first argument alone.
func first(of cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return of(cmd, args, begun)
	}
}

// others completes names that are not among the arguments yet.
func others(of candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		left := slices.DeleteFunc(of(cmd), func(c cobra.Completion) bool { return slices.Contains(args, nameOf(c)) })
		return beginning(left, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// listed completes the last name of a list with commas.
func listed(of candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		there := strings.Split(before, ",")
		var all []cobra.Completion
		for _, c := range of(cmd) {
			if !slices.Contains(there, nameOf(c)) {
				all = append(all, before+c)
			}
		}
		return beginning(all, begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// output is the directory that a command fills, or the file of a page.
func output(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if cmd.Name() == "report" {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return directories(cmd, args, begun)
}

// listArguments completes a section of list, or a scenario.
var listArguments = first(offers(func(cmd *cobra.Command) (names []cobra.Completion) {
	all, _ := sections() // running the command reports the error
	for _, s := range all {
		names = append(names, s.name())
	}
	names = append(names, "rows")
	slices.Sort(names)
	return append(slices.Compact(names), scenarioNames(cmd)...)
}, cobra.ShellCompDirectiveNoFileComp))

// beginning returns the completions with a prefix.
func beginning(all []cobra.Completion, begun string) []cobra.Completion {
	return slices.DeleteFunc(all, func(c cobra.Completion) bool { return !strings.HasPrefix(c, begun) })
}

// nameOf returns a completion without its description.
func nameOf(c cobra.Completion) string {
	name, _, _ := strings.Cut(c, "\t")
	return name
}

// described returns names with descriptions.
func described[T any](all []T, of func(T) (name, what string)) candidates {
	return func(*cobra.Command) (list []cobra.Completion) {
		for _, one := range all {
			list = append(list, cobra.CompletionWithDesc(of(one)))
		}
		return list
	}
}

func fixedChoice(names ...string) candidates {
	return func(*cobra.Command) []cobra.Completion { return slices.Clone(names) }
}

func scenarioNames(cmd *cobra.Command) []cobra.Completion {
	return described(scenarios.All(), func(s scenarios.Scenario) (string, string) { return s.Name, s.Summary })(cmd)
}

// runnable are scenarios and suites.
func runnable(cmd *cobra.Command) []cobra.Completion {
	all := scenarioNames(cmd)
	for _, s := range suites {
		all = append(all, cobra.CompletionWithDesc(suiteMark+s.name, s.what))
	}
	return all
}

// scenarioFields are the paths of the fields of a scenario that hold a single value and are in no list.
func scenarioFields(*cobra.Command) []cobra.Completion {
	return fieldsBelow("", reflect.TypeFor[scenarios.Scenario]())
}

func questionFields(*cobra.Command) []cobra.Completion {
	return fieldsBelow("", reflect.TypeFor[tune.Question]())
}

func fieldsBelow(path string, t reflect.Type) (all []cobra.Completion) {
	for _, f := range form.Fields(t) {
		switch kind := f.Of.Kind(); {
		case kind == reflect.Struct && !reflect.PointerTo(f.Of).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
			all = append(all, fieldsBelow(path+f.Name+".", f.Of)...)
		case kind == reflect.Slice || kind == reflect.Map:
		default:
			all = append(all, path+f.Name+"=")
		}
	}
	return all
}

func rowNames(*cobra.Command) []cobra.Completion { return debate{topics: scenarios.Topics()}.names() }

func sweepNames(cmd *cobra.Command) []cobra.Completion {
	return described(sweeps, func(s series.Named) (string, string) {
		return s.Name, s.Make().Summary
	})(cmd)
}

func backendChoices(cmd *cobra.Command) []cobra.Completion {
	all := backends
	if cmd.Name() == "test" { // where programs can lock
		all = slices.DeleteFunc(slices.Clone(all), func(b backendKind) bool { return b.Name != "process" })
	}
	return described(all, func(b backendKind) (string, string) { return b.Name, b.what })(cmd)
}

func clientChoices(*cobra.Command) (list []cobra.Completion) {
	for _, c := range whatClientsAre {
		list = append(list, cobra.CompletionWithDesc(c.name, c.what))
	}
	return list
}

func lockKinds(cmd *cobra.Command) []cobra.Completion {
	names, what := runner.Locks()
	return described(names, func(n string) (string, string) { return n, what[n] })(cmd)
}

// locks completes the locks of compare, and otherwise a kind of lock.
func locks(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if cmd.Name() == "compare" {
		return listed(contenders)(cmd, args, begun)
	}
	return offers(lockKinds, cobra.ShellCompDirectiveNoFileComp)(cmd, args, begun)
}

func contenders(cmd *cobra.Command) []cobra.Completion {
	return described(scenarios.Contenders(), func(c scenarios.Contender) (string, string) { return c.Name, c.Summary })(cmd)
}

func trials(cmd *cobra.Command) []cobra.Completion {
	return described(scenarios.Trials(), func(t scenarios.Trial) (string, string) { return t.Name, t.Summary })(cmd)
}

func properties(cmd *cobra.Command) []cobra.Completion {
	all := checker.Properties()
	if cmd.Name() == "test" { // which cannot judge it
		all = slices.DeleteFunc(all, func(p checker.Property) bool { return p == checker.Cleanup })
	}
	return described(all, func(p checker.Property) (string, string) { return p.String(), p.Code() + ", " + p.Title() })(cmd)
}

// propertyNames completes one property for a command that measures one, and otherwise the last of a list.
func propertyNames(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	one := func(of candidates) ([]cobra.Completion, cobra.ShellCompDirective) {
		return offers(of, cobra.ShellCompDirectiveNoFileComp)(cmd, args, begun)
	}
	switch cmd.Name() {
	case "rare":
		return one(fixedChoice(checker.Lease.String(), checker.Section.String()))
	case "sweep":
		return one(properties)
	}
	return listed(properties)(cmd, args, begun)
}

func faultKinds(cmd *cobra.Command) []cobra.Completion {
	kinds, does := nemesis.Kinds()
	all := []cobra.Completion{cobra.CompletionWithDesc(string(nemesis.AllKinds), "every kind")}
	return append(all, described(kinds, func(k nemesis.Kind) (string, string) { return string(k), does[k] })(cmd)...)
}

// formats are those of a command.
func formats(cmd *cobra.Command) []cobra.Completion { return formatsOf(cmd) }
