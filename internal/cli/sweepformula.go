package cli

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// formula predicts the probability of a violation from the varied fields of a sweep.
type formula struct {
	text  string
	names []string // of the variables
	root  ast.Expr
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
func parseFormula(text string, names []string) (formula, error) {
	f := formula{text: text, names: names}
	expression, _, _ := strings.Cut(text, "//")
	root, err := parser.ParseExpr(expression)
	if err != nil {
		return f, fmt.Errorf("--formula %q: %w", text, err)
	}
	f.root = root
	if _, err := f.value(root, make([]float64, len(names))); err != nil {
		return f, fmt.Errorf("--formula %q: %w", text, err)
	}
	return f, nil
}

// at returns the probability at values of the variables: the formula's value, but at least 0 and at
// most 1.
func (f formula) at(values []float64) (float64, error) {
	p, err := f.value(f.root, values)
	if err == nil && math.IsNaN(p) {
		err = fmt.Errorf("no number at %s", f.where(values))
	}
	if err != nil {
		return 0, fmt.Errorf("--formula %q: %w", f.text, err)
	}
	return min(1, max(0, p)), nil
}

func (f formula) where(values []float64) string {
	var list []string
	for i, name := range f.names {
		list = append(list, fmt.Sprintf("%s = %v", name, values[i]))
	}
	return strings.Join(list, ", ")
}

var errSyntax = errors.New("want numbers, varied fields, + - * / and calls of functions")

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
		if i := slices.Index(f.names, e.Name); i >= 0 {
			return values[i], nil
		}
		return 0, &textfmt.UnknownError{What: "name", Name: e.Name, Known: f.names}
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
		switch e.Op {
		case token.ADD:
			return x + y, err
		case token.SUB:
			return x - y, err
		case token.MUL:
			return x * y, err
		case token.QUO:
			return x / y, err
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
	return function.of(x), nil
}
