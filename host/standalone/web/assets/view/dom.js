/** Making elements. Nothing here ever parses a string as markup except {@link rendered}. */

/** @typedef {Node | string | false | null | undefined} Child */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [attributes] `on…` is a listener, a boolean is set or left out, anything else an attribute
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value))
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, String(value))
  }
  element.append(...children.filter(child => child !== false && child !== null && child !== undefined).map(child => /** @type {Node | string} */ (child)))
  return element
}

/** Set or remove an attribute, only when that changes it. @param {Element} element @param {string} name @param {string | boolean | undefined} value */
export function attribute(element, name, value) {
  if (value === false || value === undefined) {
    if (element.hasAttribute(name)) element.removeAttribute(name)
    return
  }
  const wanted = value === true ? '' : value
  if (element.getAttribute(name) !== wanted) element.setAttribute(name, wanted)
}

/** @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

const paths = {
  plus: 'M8 3v10M3 8h10',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14',
  fold: 'm6 4 4 4-4 4',
  pen: 'm10.5 3 2.5 2.5L5.5 13H3v-2.5L10.5 3Z',
  pin: 'M6 2.5h4l-.5 4 2 2.5h-7l2-2.5-.5-4ZM8 9v4.5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  trash: 'M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.5 9h6l.5-9M6.8 7v4M9.2 7v4',
  theme: 'M8 13.5A5.5 5.5 0 1 0 8 2.5a5.5 5.5 0 0 0 0 11Zm0-11v11M8 5l4 1.2M8 8h5.4M8 11l4-1.2',
  globe: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c-2 1.7-2.8 3.7-2.8 6s.8 4.3 2.8 6c2-1.7 2.8-3.7 2.8-6S10 3.7 8 2Z',
  folder: 'M2 4.5c0-.6.4-1 1-1h3l1.5 1.5H13c.6 0 1 .4 1 1v6c0 .6-.4 1-1 1H3c-.6 0-1-.4-1-1v-7.5Z',
  send: 'M8 13V3.5M4 7.5l4-4 4 4',
  stop: 'M5 5h6v6H5z',
  check: 'm3.5 8.5 3 3 6-7',
  cross: 'm4 4 8 8M12 4l-8 8',
  warn: 'M8 2.5 14 13H2L8 2.5ZM8 6.5v3M8 11.4h.01',
  copies: 'M6 6h7v7H6zM3 10V3h7',
  up: 'm4 9.5 4-4 4 4',
  down: 'm4 6.5 4 4 4-4',
  tool: 'm9.5 6.5 3.2-3.2a3.2 3.2 0 0 1-4.2 4.2L4.5 12.5 3 11l4.5-4.5A3.2 3.2 0 0 1 11.7 2.3L9.5 4.5v2Z',
  shield: 'M8 2 3 4v4c0 3 2.2 5 5 6 2.8-1 5-3 5-6V4L8 2Z',
  bulb: 'M6 11.5h4M6.5 13.5h3M5.7 9.5a4 4 0 1 1 4.6 0c-.3.3-.5.7-.5 1.2H6.2c0-.5-.2-.9-.5-1.2Z',
  list: 'M6.5 4.5h7M6.5 8h7M6.5 11.5h7M3 4.5h.01M3 8h.01M3 11.5h.01',
  archive: 'M2.5 3.5h11v3h-11zM3.5 6.5v6.5h9V6.5M6.5 9h3',
}

/** @typedef {keyof typeof paths} IconName */

const svg = 'http://www.w3.org/2000/svg'

/** A line drawing on 16 by 16; it is never the only thing that says something. @param {IconName} name @returns {SVGSVGElement} */
export function icon(name) {
  const element = document.createElementNS(svg, 'svg')
  element.setAttribute('viewBox', '0 0 16 16')
  element.setAttribute('class', `icon icon-${name}`)
  element.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(svg, 'path')
  path.setAttribute('d', paths[name])
  element.append(path)
  return element
}

/**
 * Rendered Markdown of the host, which has sanitised it. What leaves the page is
 * made harmless here once more: only web and mail addresses, in a tab that knows
 * nothing of this one.
 * @param {Element} into
 * @param {string} html
 */
export function rendered(into, html) {
  const template = document.createElement('template')
  template.innerHTML = html
  for (const link of template.content.querySelectorAll('a')) {
    if (!/^(https?:|mailto:)/i.test(link.getAttribute('href') ?? '')) link.removeAttribute('href')
    link.setAttribute('target', '_blank')
    link.setAttribute('rel', 'noopener noreferrer nofollow')
  }
  for (const foreign of template.content.querySelectorAll('script, style, iframe, object, embed, form')) foreign.remove()
  // A wide table or code block scrolls by itself, also by keyboard.
  for (const wide of template.content.querySelectorAll('pre, table')) wide.setAttribute('tabindex', '0')
  into.replaceChildren(template.content)
}

/** Where the keyboard is, if it is inside. @param {Element} root */
export const focusIn = root => root.contains(document.activeElement)
