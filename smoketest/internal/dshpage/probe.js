// What the tests ask of a page. It only looks and clicks, as a person would.
window.probe = (() => {
  const composer = () => document.querySelector('textarea[data-phase]')
  const mirror = () => document.querySelector('[data-input-mirror]')

  const visible = element => element.getClientRects().length > 0

  // What our bundle tells the user: about drafts, and about itself.
  const noticeSelector = '[data-drafts-notice], [data-drafts-status]'
  const kindOf = notice => notice.dataset.draftsNotice ?? notice.dataset.draftsStatus

  // The last key press or paste, and the last time our state turned to "saved".
  let lastInput = 0
  document.addEventListener('input', () => { lastInput = performance.now() }, true)
  const savedAt = new Map()
  const last = new Map()
  const seen = []
  let changedAt = 0
  const watch = () => {
    changedAt = performance.now()
    for (const notice of document.querySelectorAll(noticeSelector)) {
      const kind = kindOf(notice)
      if (!seen.includes(kind) && visible(notice)) seen.push(kind)
    }
    for (const element of document.querySelectorAll('[data-draft-id] [data-save-state]')) {
      const id = element.closest('[data-draft-id]').dataset.draftId
      const state = element.dataset.saveState
      if (state === 'saved' && last.get(id) !== 'saved') savedAt.set(id, performance.now())
      last.set(id, state)
    }
  }
  new MutationObserver(watch).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-save-state', 'data-draft-id', 'data-drafts-notice', 'data-drafts-status'] })

  const text = element => element.innerText.trim()

  const groups = () => [...document.querySelectorAll('[role=tree] [role=treeitem][aria-expanded]')]

  return {
    // The page has its sidebar, and a session whose composer takes text.
    ready: () => document.querySelector('[role=tree]') !== null && window.probe.current() !== ''
      && composer()?.dataset.phase === 'plain' && !composer().readOnly && !composer().disabled,

    until: (check, limit) => new Promise(resolve => {
      const began = performance.now()
      const step = () => {
        let reached = false
        try { reached = Boolean(check()) } catch { /* the element is not there yet */ }
        if (reached || performance.now() - began > limit) resolve(reached)
        else setTimeout(step, 10)
      }
      step()
    }),

    composer: () => {
      const input = composer(), exact = mirror()
      if (input === null || exact === null) return null
      return {
        text: exact.textContent.slice(0, -1), value: input.value, phase: input.dataset.phase,
        focused: document.activeElement === input, disabled: input.disabled, readOnly: input.readOnly,
        start: input.selectionStart, end: input.selectionEnd,
      }
    },

    current: () => {
      try { return JSON.parse(localStorage.getItem('dsh.sessions.current'))?.sessionId ?? '' } catch { return '' }
    },

    rows: () => [...document.querySelectorAll('li[data-draft-id]')].filter(visible).map(row => ({
      id: row.dataset.draftId, title: text(row.querySelector('button')),
      selected: row.querySelector('[aria-current=true]') !== null,
    })),

    // The rows of the page itself, of all workspaces, ours left out.
    stockRows: () => [...document.querySelectorAll('[role=tree] [role=treeitem][aria-selected]')]
      .map(row => ({ title: text(row), selected: row.getAttribute('aria-selected') === 'true' })),

    stockRow: title => [...document.querySelectorAll('[role=tree] [role=treeitem][aria-selected]')]
      .find(row => text(row).startsWith(title)),

    // Where the keyboard focus is, of what is ours: a row's draft, the button for a new
    // one; 'composer', 'body', or the tag of anything else.
    focus: () => {
      const focused = document.activeElement
      if (focused === null || focused === document.body) return 'body'
      if (focused === composer()) return 'composer'
      if (focused.closest('[data-drafts-new]')) return 'new'
      return focused.closest('[data-draft-id]')?.dataset.draftId ?? focused.closest('[data-drafts-menu]')?.dataset.draftsMenu ?? focused.tagName
    },

    focusRow: id => document.querySelector(`li[data-draft-id="${id}"] button`).focus(),

    notices: () => [...document.querySelectorAll(noticeSelector)].filter(visible).map(notice => ({
      kind: kindOf(notice), text: text(notice),
    })),

    groups: () => groups().map(text),

    groupOrder: workspace => {
      const group = groups().find(row => text(row) === workspace)?.closest('[role=tree] > *')
      return [...group?.querySelectorAll('li[data-draft-id], [role=treeitem][aria-selected]') ?? []].filter(visible)
        .map(row => row.matches('li') ? 'draft' : 'session')
    },

    showFlat: () => {
      const key = 'dsh.workspace.view.v5'
      localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), groupBy: 'flat' }))
    },

    // Whether the workspace's group is open; a folded one is clicked.
    expand: workspace => {
      const group = groups().find(row => text(row) === workspace)
      if (group?.getAttribute('aria-expanded') === 'false') group.click()
      return group?.getAttribute('aria-expanded') === 'true'
    },

    // Nothing has changed in the document for half a second.
    atRest: () => document.fonts.status === 'loaded' && performance.now() - changedAt > 500,

    // Whether the menu over the composer offers that as the entry that Enter takes.
    suggestion: label => [...document.querySelectorAll('[role=listbox] [role=option][aria-selected=true]')].some(option => text(option).includes(label)),

    // Anything of ours that a person could see.
    ours: () => [...document.querySelectorAll('[data-draft-id], [data-drafts-new], [data-drafts-save], ' + noticeSelector)].filter(visible).length,

    clickBoth: async (first, second) => {
      first.click()
      await new Promise(resolve => setTimeout(resolve, 10))
      second.click()
    },

    // What the page says of drafts that are not saved, for a failed test.
    complaints: () => [...document.querySelectorAll('[data-save-state]:not([data-save-state=saved])')].map(element => element.title),

    // A check whether a condition has held for so long without a break.
    steadily: (condition, ms) => {
      let since = performance.now()
      return () => {
        if (!condition()) since = performance.now()
        return performance.now() - since > ms
      }
    },

    alerts: () => [...document.querySelectorAll('[role=alert]')].filter(visible).map(text).filter(Boolean),

    noticesSeen: () => seen,

    saveState: id => last.get(id) ?? '',
    // Saved, and that was said after the last key.
    savedSinceInput: id => last.get(id) === 'saved' && (savedAt.get(id) ?? -1) > lastInput,

    // A paste at the caret of the focused input: one paste event, and unless the page
    // handles it itself, one input event with the whole text.
    paste: pasted => {
      const input = document.activeElement
      const data = new DataTransfer()
      data.setData('text/plain', pasted)
      if (!input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))) return
      input.setRangeText(pasted, input.selectionStart, input.selectionEnd, 'end')
      input.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste', bubbles: true }))
    },

    pasteImage: async () => {
      const canvas = new OffscreenCanvas(8, 8)
      canvas.getContext('2d').fillRect(0, 0, 8, 8)
      const picture = new File([await canvas.convertToBlob()], 'picture.png', { type: 'image/png' })
      const data = new DataTransfer()
      data.items.add(picture)
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    },

    // The first visible element of a selector, with that text unless it is ''.
    first: (selector, label) => [...document.querySelectorAll(selector)].find(e => visible(e) && (label === '' || text(e) === label)),

    // From the click to the first moment at which the composer holds the text.
    timeSwitch: (element, expected) => new Promise(resolve => {
      const began = performance.now()
      element.click()
      const channel = new MessageChannel()
      channel.port1.onmessage = () => {
        if (mirror()?.textContent === expected + '\n') resolve(performance.now() - began)
        else if (performance.now() - began > 10000) resolve(-1)
        else channel.port2.postMessage(null)
      }
      channel.port2.postMessage(null)
    }),
  }
})()
