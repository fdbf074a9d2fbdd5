// Package plots draws the results of a sweep as SVG, PDF and PNG: [Curves] with their intervals and
// formulas, a [HeatMap] over two parameters, the Pareto [Front] of settings. [Save] writes a
// picture, or its values as CSV and Parquet, and [Of] returns the pictures of a sweep.
//
// A chart consists of numbers and texts, and knows nothing of sweeps, runs, or files. The same
// chart always gives the same bytes. The colours suit colour-blind readers (Okabe and Ito for
// curves, which also differ in marker and dashes; viridis for maps), or are black and grey ([Print]).
// No text covers data.
//
// A program that lacks the font of an SVG takes another one, whose letters may be wider, and cuts
// titles off. Browsers correct that by the attribute textLength, and take fonts from the file; other
// programs need not. So an SVG has the outlines of its letters, with the text as a label. A picture
// on a page ([Page]) is for browsers only, and has texts with textLength.
//
// It is an error if a chart cannot be drawn truthfully: a value that is not a number, a zero
// on a logarithmic axis, an interval that does not contain its point, a character that the
// font lacks, a legend that leaves no room.
//
// It draws on gonum's canvases (plot/vg) and not with plot and plotter: these have no legend
// outside the data, no wrapped title, no labels that avoid each other, no mark for a missing
// cell. They would replace about 230 lines of ticks, axes and cells with about 120, and add
// 5 MB (eleven more fonts, PDF, EPS and TeX output) to the command. A PDF is written with fpdf, which
// gonum's canvas for it (plot/vg/vgpdf) uses too: that canvas can set neither metadata nor date.
package plots
