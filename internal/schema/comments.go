package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// comments are the comments of types, fields and constants in the source, by name:
// "nemesis.Setting", "nemesis.Setting.Nodes".
type comments struct {
	text map[string]string
	// values are the constants of a type, in order.
	values map[string][]constant
}

type constant struct {
	name, value, text string // value is empty if it is no literal text
}

// readComments reads the source of packages, whose folders have their names.
func readComments(root string, packages ...string) (comments, error) {
	c := comments{map[string]string{}, map[string][]constant{}}
	for _, p := range packages {
		files, err := filepath.Glob(filepath.Join(root, p, "*.go"))
		if err != nil {
			return c, err
		}
		if len(files) == 0 {
			return c, fs.ErrNotExist
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				return c, err
			}
			c.read(file)
		}
	}
	return c, nil
}

func (c *comments) read(file *ast.File) {
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		switch group.Tok {
		case token.TYPE:
			for _, s := range group.Specs {
				c.readType(file.Name.Name, s.(*ast.TypeSpec), group.Doc)
			}
		case token.CONST:
			c.readConstants(file.Name.Name, group)
		}
	}
}

func (c *comments) readType(pkg string, s *ast.TypeSpec, group *ast.CommentGroup) {
	name := pkg + "." + s.Name.Name
	c.text[name] = said(s.Doc, group)
	if of, ok := s.Type.(*ast.StructType); ok {
		for _, f := range of.Fields.List {
			for _, n := range f.Names {
				c.text[name+"."+n.Name] = said(f.Doc, f.Comment)
			}
			if embedded, ok := f.Type.(*ast.Ident); ok && f.Names == nil {
				c.text[name+"."+embedded.Name] = said(f.Doc, f.Comment)
			}
		}
	}
}

// readConstants reads a group of constants, in which a type holds until the next.
func (c *comments) readConstants(pkg string, group *ast.GenDecl) {
	of := ""
	for _, s := range group.Specs {
		v := s.(*ast.ValueSpec)
		if t, ok := v.Type.(*ast.Ident); ok {
			of = pkg + "." + t.Name
		} else if len(v.Values) > 0 {
			of = ""
		}
		if of == "" || !v.Names[0].IsExported() {
			continue
		}
		k := constant{name: v.Names[0].Name, text: said(v.Doc, v.Comment)}
		if !group.Lparen.IsValid() { // it stands alone
			k.text = said(group.Doc, v.Comment)
		}
		if len(v.Values) == 1 {
			if literal, ok := v.Values[0].(*ast.BasicLit); ok {
				k.value, _ = strconv.Unquote(literal.Value)
			}
		}
		c.values[of] = append(c.values[of], k)
	}
}

// said returns the first of two comments that is not empty, on one line.
func said(first, second *ast.CommentGroup) string {
	text := first.Text()
	if text == "" {
		text = second.Text()
	}
	return strings.Join(strings.Fields(text), " ")
}
