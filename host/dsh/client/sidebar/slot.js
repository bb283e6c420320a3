/**
 * Shadows DSH's workspace browser with one that renders it unchanged below our rows.
 * When anything of ours throws, DSH drops our entry and renders the next by itself.
 */
import { Component, createContext, createElement as h, useContext, useLayoutEffect, useMemo } from 'react'
import { Chain } from './chain.js'
import { hidingHook } from './hidden.js'

/**
 * @typedef {import('../dsh.js').Slots} Slots
 * @typedef {import('../dsh.js').SlotEntry} SlotEntry
 * @typedef {import('../dsh.js').BrowserProps} BrowserProps
 */
/**
 * @typedef {object} Parts
 * @property {import('react').ComponentType<BrowserProps>} Rows
 * @property {() => ReadonlySet<string>} useHidden sessions that have rows of ours
 * @property {(error: unknown) => void} failed our rows cannot be shown: they threw, or another plugin has the place
 */

const slot = 'sidebar.workspaces'
const child = 'sidebar.workspaces.directoryFlow'

/** Whether ours is above: a neighbour may go on showing one of ours that another has replaced. */
const Inside = createContext(false)

/**
 * @param {Slots} slots
 * @param {Parts} parts
 * @param {(error: unknown) => void} report
 * @returns {() => void}
 */
export function shadowBrowser(slots, parts, report) {
  // Fires when the browser is there, again when it comes back, and cleans up between.
  return slots.inject(child, () => {
    const mounts = { now: 0 }
    const chain = new Chain(slots, {
      slot, child, report,
      wrap: (inner, nameOf, failed) => browser(inner, nameOf, failed, parts, mounts),
      shown: () => mounts.now > 0,
      gaveUp: parts.failed,
    })
    chain.link()
    return () => chain.dispose()
  })
}

/**
 * @param {SlotEntry} inner
 * @param {(key: string) => string} nameOf
 * @param {(error: unknown) => void} innerFailed
 * @param {Parts} parts
 * @param {{ now: number }} mounts how often it is in the page
 * @returns {import('react').ComponentType<BrowserProps>}
 */
function browser(inner, nameOf, innerFailed, { Rows, useHidden, failed }, mounts) {
  return function DraftsBrowser(props) {
    useLayoutEffect(() => {
      mounts.now++
      return () => { mounts.now-- }
    }, [])
    const { renderSlot, useSessions } = props
    const hidden = useHidden()
    const mirrored = useMemo(() => {
      /** @type {BrowserProps['renderSlot']} */
      const render = (key, owner, options) => renderSlot(nameOf(key), owner, options)
      return render
    }, [renderSlot])
    const inside = useContext(Inside)
    const hiding = useMemo(() => hidingHook(useSessions, hidden), [useSessions, hidden])
    return h(Inside.Provider, { value: true },
      !inside && h(Quiet, { name: 'rows', failed }, h(Rows, props)),
      h(Quiet, { name: 'browser', failed: innerFailed }, h(inner.component, { ...props, renderSlot: mirrored, useSessions: hiding })))
  }
}

/**
 * Renders nothing in place of what threw, so that a fault takes nothing else with it.
 * @extends {Component<{ name: string, failed?: (error: unknown) => void, children?: import('react').ReactNode }, { failed: boolean }>}
 */
export class Quiet extends Component {
  /** @override */
  state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  /** @override @param {unknown} error */
  componentDidCatch(error) {
    if (this.props.failed) this.props.failed(error)
    else console.warn(`draft sessions: ${this.props.name} stepped back`, error)
  }

  /** @override */
  render() {
    return this.state.failed ? null : this.props.children
  }
}
