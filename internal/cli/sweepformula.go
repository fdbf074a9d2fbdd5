package cli

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// formula predicts the probability of a violation from the varied fields of a sweep.
type formula struct {
	text      string
	variables []sweep.Param
	root      ast.Expr
}

// functions are what a formula can call, by name, with the number of their arguments.
var functions = map[string]struct {
	arguments int
	of        func(x []float64) float64
}{
	"min":  {2, func(x []float64) float64 { return min(x[0], x[1]) }},
	"max":  {2, func(x []float64) float64 { return max(x[0], x[1]) }},
	"pow":  {2, func(x []float64) float64 { return math.Pow(x[0], x[1]) }},
	"exp":  {1, func(x []float64) float64 { return math.Exp(x[0]) }},
	"log":  {1, func(x []float64) float64 { return math.Log(x[0]) }},
	"sqrt": {1, func(x []float64) float64 { return math.Sqrt(x[0]) }},
}

// parseFormula reads a formula in Go's syntax: numbers, the names, + - * / and functions. A comment
// behind it is its source.
func parseFormula(text string, variables []sweep.Param) (formula, error) {
	expression, _, _ := strings.Cut(text, "//")
	root, err := parser.ParseExpr(expression)
	if err != nil {
		return formula{}, fmt.Errorf("--formula %q: %w", text, plainSyntax(err))
	}
	return formula{text, variables, root}, nil
}

// plainSyntax says the first error of Go's parser in terms of formulas.
func plainSyntax(err error) error {
	var all scanner.ErrorList
	if !errors.As(err, &all) {
		return err
	}
	wanted, found, _ := strings.Cut(all[0].Msg, ", found ")
	found, _, _ = strings.Cut(strings.TrimPrefix(found, "newline"), " (")
	place := "before " + strings.Trim(found, "'")
	if found == "" || found == "'EOF'" {
		place = "at the end"
	}
	_, noUnit := duration("1" + found)
	switch {
	case wanted == "expected operand":
		return fmt.Errorf(`a number, a field or "(" is missing %s`, place)
	case wanted == "expected ')'":
		return fmt.Errorf(`a ")" is missing %s`, place)
	case found == "')'":
		return errors.New(`there is a ")" too many`)
	case noUnit == nil:
		return errors.New("numbers have no unit; durations are in seconds")
	}
	return fmt.Errorf("%w, not %s", errSyntax, strings.TrimPrefix(place, "before "))
}

// at returns the probability at values of the variables: the formula's value, but at least 0 and at
// most 1.
func (f formula) at(values []float64) (float64, error) {
	p, err := f.value(f.root, values)
	if errors.Is(err, errNoNumber) {
		err = fmt.Errorf("%w at %s", err, f.where(values))
	}
	if err != nil {
		return 0, fmt.Errorf("--formula %q: %w", f.text, err)
	}
	return min(1, max(0, p)), nil
}

func (f formula) where(values []float64) string {
	var list []string
	for i, v := range f.variables {
		list = append(list, fmt.Sprintf("%s = %v", v.Name, values[i]))
	}
	return strings.Join(list, ", ")
}

var (
	errSyntax   = errors.New("want numbers, varied fields, + - * / and calls of functions")
	errNoNumber = errors.New("no number")
)

// number returns x, or an error if it is none or infinite: as a probability, infinity would be 0 or 1.
func number(x float64) (float64, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, errNoNumber
	}
	return x, nil
}

// value calculates a part of the formula.
func (f formula) value(part ast.Expr, values []float64) (float64, error) {
	switch e := part.(type) {
	case *ast.ParenExpr:
		return f.value(e.X, values)
	case *ast.BasicLit:
		x, err := strconv.ParseFloat(e.Value, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: want a number", e.Value)
		}
		return x, nil
	case *ast.Ident:
		var known []string
		for i, v := range f.variables {
			if v.Name == e.Name {
				return values[i], nil
			}
			known = append(known, v.Name+map[string]string{inSeconds: " (in seconds)"}[v.Unit])
		}
		return 0, &textfmt.UnknownError{What: "name", Name: e.Name, Known: known}
	case *ast.UnaryExpr:
		x, err := f.value(e.X, values)
		if e.Op == token.SUB {
			return -x, err
		}
	case *ast.BinaryExpr:
		x, err := f.value(e.X, values)
		if err != nil {
			return 0, err
		}
		y, err := f.value(e.Y, values)
		if err != nil {
			return 0, err
		}
		switch e.Op {
		case token.ADD:
			return number(x + y)
		case token.SUB:
			return number(x - y)
		case token.MUL:
			return number(x * y)
		case token.QUO:
			return number(x / y)
		}
	case *ast.CallExpr:
		return f.call(e, values)
	}
	return 0, errSyntax
}

func (f formula) call(e *ast.CallExpr, values []float64) (float64, error) {
	name, _ := e.Fun.(*ast.Ident)
	if name == nil {
		return 0, errSyntax
	}
	function, ok := functions[name.Name]
	switch {
	case !ok:
		return 0, &textfmt.UnknownError{What: "function", Name: name.Name, Known: slices.Sorted(maps.Keys(functions))}
	case len(e.Args) != function.arguments:
		return 0, fmt.Errorf("%s: want %s", name.Name, textfmt.Count(function.arguments, "argument"))
	}
	var x []float64
	for _, argument := range e.Args {
		value, err := f.value(argument, values)
		if err != nil {
			return 0, err
		}
		x = append(x, value)
	}
	return number(function.of(x))
}
