// Aims at an element as a person does: when it rests, in view and not covered. A
// click that something slipped under meanwhile (a notice came, rows moved) hits
// nothing, and can be aimed anew. The guard is for the next click only.
async (find, guarded) => {
  const deadline = performance.now() + 5000
  const over = (element, x, y) => {
    const top = document.elementFromPoint(x, y)
    if (top === null) return false
    if (element.contains(top)) return true
    const box = element.getBoundingClientRect()
    return top.contains(element) && getComputedStyle(element).pointerEvents === 'none' && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom
  }
  const middle = element => {
    element.scrollIntoView({ block: 'nearest' })
    const box = element.getBoundingClientRect()
    const x = box.left + box.width / 2, y = box.top + box.height / 2
    return over(element, x, y) ? { x, y } : undefined
  }
  window.aimed?.end()
  window.aimed = undefined
  for (let previous; performance.now() < deadline; await new Promise(resolve => setTimeout(resolve, 50))) {
    const element = find()
    const now = element ? middle(element) : undefined
    const rests = now !== undefined && previous !== undefined && now.x === previous.x && now.y === previous.y
    previous = now
    if (!rests) continue
    if (!guarded) return now
    let down, up
    const stages = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']
    const watch = event => {
      const hit = over(element, event.clientX, event.clientY)
      if (event.type === 'pointerdown') down = hit
      else if (event.type === 'click') up = hit
      if (down) return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    const end = () => { for (const stage of stages) window.removeEventListener(stage, watch, true) }
    for (const stage of stages) window.addEventListener(stage, watch, true)
    window.aimed = {
      end,
      // An element that is gone was pressed: what it did took it away.
      hit: () => {
        end()
        return down === true && (up !== false || !element.isConnected)
      },
    }
    return now
  }
  return null
}
