"""Charts and graphs as SVG, without external resources, for files, reports and the site."""

from chorale.present.svg.bars import Bar, Quartiles, bar_chart, box_chart, column_chart
from chorale.present.svg.colours import PAGE_STYLE
from chorale.present.svg.curves import Curve, Point, curve_chart, point_chart
from chorale.present.svg.elements import stacked, standalone
from chorale.present.svg.frame import Axis
from chorale.present.svg.graph import GraphLink, Node
from chorale.present.svg.graph_picture import graph_picture

__all__ = [
    "PAGE_STYLE",
    "Axis",
    "Bar",
    "Curve",
    "GraphLink",
    "Node",
    "Point",
    "Quartiles",
    "bar_chart",
    "box_chart",
    "column_chart",
    "curve_chart",
    "graph_picture",
    "point_chart",
    "stacked",
    "standalone",
]
