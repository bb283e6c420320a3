// Shadows DSH's workspace browser as the documentation of slots says: a lower
// priority renders. The tests tell it by window.shadow how to behave.
window.__ModuleLoader__.load({ id: 'shadow-sidebar', factory: require => {
  const { createElement: h, Fragment } = require('react')
  const slot = 'sidebar.workspaces'
  const seam = 'sidebar.workspaces.directoryFlow'

  return {
    inject: ['slots'],
    apply(ctx) {
      const { slots } = ctx
      let leave = () => {}
      let watched = () => {}
      const shadow = window.shadow = {
        registrations: 0,
        come(how) {
          shadow.go()
          if (how === 'greedy') watched = slots.subscribe(slot, () => { if (slots.entriesOfSlot(slot)[0]?.component !== shadow.component) register(how) })
          register(how)
        },
        go() {
          watched()
          leave()
          watched = leave = () => {}
        },
      }
      function register(how) {
        leave()
        const entries = slots.entries(slot)
        const stock = entries.find(entry => (entry.options.priority ?? 0) === 0)
        const inner = how === 'outer' ? entries[0] : stock
        const priority = how === 'plain' ? -1 : Math.min(...entries.map(entry => entry.options.priority ?? 0)) - 1
        const keys = Object.keys(inner.children ?? {})
        const nameOf = key => keys.includes(key) ? `shadow.${key}` : key
        shadow.component = function Shadow(props) {
          if (how === 'throws') throw new Error('the neighbour throws')
          const renderSlot = (key, ...rest) => props.renderSlot(nameOf(key), ...rest)
          return h(Fragment, null, h('div', { 'data-shadow-row': how }, 'Row of a neighbour'), h(inner.component, { ...props, renderSlot }))
        }
        shadow.registrations++
        leave = slots.register({
          name: slot, priority, children: Object.fromEntries(keys.map(key => [nameOf(key), inner.children[key]])),
          ...inner.store === undefined ? {} : { store: inner.store }, ...inner.inject === undefined ? {} : { inject: inner.inject },
          ...inner.locale === undefined ? {} : { locale: inner.locale },
        }, shadow.component)
      }
      slots.inject(seam, () => {
        shadow.come('plain')
        return () => shadow.go()
      })
    },
  }
} })
