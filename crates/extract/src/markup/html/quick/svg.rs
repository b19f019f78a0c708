//! Drawings within a page: SVG (WHATWG HTML, 13.2.6.5). Pages with HTML in a drawing are left to the
//! full algorithm, as are those with elements that SVG does not have.

use super::kinds::Kind;
use super::{Reader, Tag, Unusual};

/// The elements, as SVG writes them, in which letters may be upper case. `script` is not among them.
const ELEMENTS: [&str; 67] = [
    "a",
    "altGlyph",
    "altGlyphDef",
    "altGlyphItem",
    "animate",
    "animateColor",
    "animateMotion",
    "animateTransform",
    "circle",
    "clipPath",
    "defs",
    "desc",
    "ellipse",
    "feBlend",
    "feColorMatrix",
    "feComponentTransfer",
    "feComposite",
    "feConvolveMatrix",
    "feDiffuseLighting",
    "feDisplacementMap",
    "feDistantLight",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feImage",
    "feMerge",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "fePointLight",
    "feSpecularLighting",
    "feSpotLight",
    "feTile",
    "feTurbulence",
    "filter",
    "g",
    "glyphRef",
    "image",
    "line",
    "linearGradient",
    "marker",
    "mask",
    "metadata",
    "mpath",
    "path",
    "pattern",
    "polygon",
    "polyline",
    "radialGradient",
    "rect",
    "set",
    "stop",
    "style",
    "svg",
    "switch",
    "symbol",
    "text",
    "textPath",
    "title",
    "tref",
    "tspan",
    "use",
    "view",
];

/// Elements in which there may be HTML.
const AROUND_HTML: [&str; 2] = ["desc", "title"];

/// The attributes that SVG writes with upper case letters.
const ATTRIBUTES: [&str; 58] = [
    "attributeName",
    "attributeType",
    "baseFrequency",
    "baseProfile",
    "calcMode",
    "clipPathUnits",
    "diffuseConstant",
    "edgeMode",
    "filterUnits",
    "glyphRef",
    "gradientTransform",
    "gradientUnits",
    "kernelMatrix",
    "kernelUnitLength",
    "keyPoints",
    "keySplines",
    "keyTimes",
    "lengthAdjust",
    "limitingConeAngle",
    "markerHeight",
    "markerUnits",
    "markerWidth",
    "maskContentUnits",
    "maskUnits",
    "numOctaves",
    "pathLength",
    "patternContentUnits",
    "patternTransform",
    "patternUnits",
    "pointsAtX",
    "pointsAtY",
    "pointsAtZ",
    "preserveAlpha",
    "preserveAspectRatio",
    "primitiveUnits",
    "refX",
    "refY",
    "repeatCount",
    "repeatDur",
    "requiredExtensions",
    "requiredFeatures",
    "specularConstant",
    "specularExponent",
    "spreadMethod",
    "startOffset",
    "stdDeviation",
    "stitchTiles",
    "surfaceScale",
    "systemLanguage",
    "tableValues",
    "targetX",
    "targetY",
    "textLength",
    "viewBox",
    "viewTarget",
    "xChannelSelector",
    "yChannelSelector",
    "zoomAndPan",
];

/// The one of `names` that is the same but for the case.
fn as_written(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().find(|own| own.eq_ignore_ascii_case(name)).copied()
}

/// An attribute as SVG writes it.
pub(super) fn attribute(name: &str) -> Option<&'static str> {
    as_written(&ATTRIBUTES, name)
}

impl<'h> Reader<'h> {
    /// Whether the innermost open element is one of a drawing.
    pub(super) fn in_drawing(&self) -> bool {
        self.stack.last().is_some_and(|open| open.kind == Kind::Drawing)
    }

    /// Opens a drawing or an element in one.
    pub(super) fn start_in_drawing(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        let own = as_written(&ELEMENTS, tag.written).ok_or(Unusual)?;
        let around = self.current().map_or(0, |open| open.name);
        let around = &*self.builder.tree.names[around as usize];
        if self.in_drawing() && AROUND_HTML.contains(&around) {
            return Err(Unusual);
        }
        let name = self.builder.name(own);
        self.open(name, Kind::Drawing)?;
        // Here, other than in HTML, a slash says that an element is empty.
        if self.attributes_of_drawing()? {
            self.close();
        }
        Ok(())
    }

    pub(super) fn end_in_drawing(&mut self, tag: Tag<'h>) -> Result<(), Unusual> {
        let open = self.current().ok_or(Unusual)?;
        if !self.builder.tree.names[open.name as usize].eq_ignore_ascii_case(tag.written) {
            return Err(Unusual);
        }
        self.close();
        Ok(())
    }
}
