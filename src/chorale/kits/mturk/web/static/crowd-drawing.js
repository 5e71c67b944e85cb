/** Amazon's elements for pictures: answers have the same format as theirs, in pixels of the picture. */

(() => {
  "use strict";
  const say = window.choraleSay;

  const point = ([x, y]) => ({ x, y });
  const pair = ({ x, y }) => [x, y];

  /** For each element: its shape, the name of the shapes in the answer, and how a shape is written and read. */
  const ELEMENTS = {
    "crowd-bounding-box": {
      kind: "box",
      called: "boundingBoxes",
      write: ({ label, points: [[left, top], [right, bottom]] }) => ({
        height: Math.abs(bottom - top),
        label,
        left: Math.min(left, right),
        top: Math.min(top, bottom),
        width: Math.abs(right - left),
      }),
      read: ({ label, left, top, width, height }) => ({ label, points: [[left, top], [left + width, top + height]] }),
    },
    "crowd-keypoint": {
      kind: "point",
      called: "keypoints",
      write: ({ label, points: [[x, y]] }) => ({ label, x, y }),
      read: ({ label, x, y }) => ({ label, points: [[x, y]] }),
    },
    "crowd-line": { kind: "line", called: "lines" },
    "crowd-polyline": { kind: "polyline", called: "polylines" },
    "crowd-polygon": { kind: "polygon", called: "polygons" },
  };
  const byVertices = {
    write: ({ label, points }) => ({ label, vertices: points.map(point) }),
    read: ({ label, vertices }) => ({ label, points: vertices.map(pair) }),
  };

  /** @param {Object<string, any>} about */
  function drawn(about) {
    const { kind, called, write, read } = { ...byVertices, ...about };
    return (place, { given, list, parsed, changed }) => {
      const before = parsed(given("initial-value"));
      const labels = list(given("labels")).map((entry) => String(entry?.label ?? entry));
      const drawing = new window.ChoraleDrawing({
        src: given("src") ?? "",
        alt: given("header") ?? say("The picture to draw on"),
        kind,
        labels,
        shapes: (Array.isArray(before) ? before : (before?.[called] ?? [])).map(read),
        changed,
      });
      place.append(drawing.element);
      const get = () => ({ [called]: drawing.shapes.map(write), inputImageProperties: drawing.size });
      const relabel = (next) => {
        drawing.relabel(next.map(String));
        drawing.show();
      };
      return {
        get,
        set: (value) => drawing.set((value?.[called] ?? []).map(read)),
        properties: { labels: { get: () => [...drawing.labels], set: relabel } },
      };
    };
  }

  window.choraleWidgets = {
    ...window.choraleWidgets,
    ...Object.fromEntries(Object.entries(ELEMENTS).map(([name, about]) => [name, drawn(about)])),
  };
})();
