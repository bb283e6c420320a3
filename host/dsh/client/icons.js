/** The glyphs of the page, drawn in the current text colour; their meaning is said beside them. */
import { createElement as h } from 'react'

/** @param {string} name @param {...string} paths */
const stroked = (name, ...paths) => {
  /** @param {{ size?: number }} props */
  const Icon = ({ size = 16 }) => h('svg', {
    'width': size, 'height': size, 'viewBox': '0 0 16 16', 'fill': 'none', 'stroke': 'currentColor',
    'strokeWidth': 1.25, 'strokeLinecap': 'round', 'strokeLinejoin': 'round', 'aria-hidden': true, 'focusable': false,
  }, ...paths.map(d => h('path', { key: d, d })))
  Icon.displayName = name
  return Icon
}

export const DraftIcon = stroked('DraftIcon', 'M3 13l.7-2.9 6.8-6.8a1.2 1.2 0 0 1 1.7 0l.5.5a1.2 1.2 0 0 1 0 1.7L5.9 12.3z', 'M9.3 4.5l2.2 2.2')
export const NewDraftIcon = stroked('NewDraftIcon', 'M8.2 2.8H4.6a1.8 1.8 0 0 0-1.8 1.8v6.8a1.8 1.8 0 0 0 1.8 1.8h6.8a1.8 1.8 0 0 0 1.8-1.8V7.8', 'M6.4 9.6l.3-1.9 4.9-4.9 1.6 1.6-4.9 4.9z')
export const PinIcon = stroked('PinIcon', 'M5.8 2.6h4.4l-.6 3.6 2 2.3H4.4l2-2.3z', 'M8 8.5v4.9')
export const CopiesIcon = stroked('CopiesIcon', 'M6 6h6.4v6.8H6z', 'M3.6 9.8V3.2H10')
export const WarnIcon = stroked('WarnIcon', 'M8 2.8l5.6 10H2.4z', 'M8 6.6v2.8', 'M8 11.2v.1')
export const MoreIcon = stroked('MoreIcon', 'M3.5 8h.01', 'M8 8h.01', 'M12.5 8h.01')
export const CloseIcon = stroked('CloseIcon', 'M4.4 4.4l7.2 7.2', 'M11.6 4.4l-7.2 7.2')
export const InfoIcon = stroked('InfoIcon', 'M8 13.4a5.4 5.4 0 1 0 0-10.8 5.4 5.4 0 0 0 0 10.8z', 'M8 7.4v3.2', 'M8 5.2v.1')
export const TrashIcon = stroked('TrashIcon', 'M3.2 4.8h9.6', 'M6.2 4.6V3h3.6v1.6', 'M4.4 4.8l.6 8.2h6l.6-8.2')
