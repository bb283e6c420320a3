/**
 * Where DSH's workspace tree has room for rows: behind the header of each workspace's
 * group. Class names are hashed, so the tree is recognised by roles and shape; whatever
 * is not exactly as expected is not recognised, and the rows go into a section of their own.
 */

/**
 * @typedef {Pick<Element, 'getAttribute' | 'textContent'> & { readonly firstElementChild: Shape | null, readonly children: ArrayLike<Shape> }} Shape
 *   the part of an element that is looked at
 */
/**
 * @template {Shape} E
 * @typedef {{ workspaceId: string, header: E, expanded: boolean }} Group
 */

/**
 * @template {Shape} E
 * @param {E | null} tree the element with role "tree"
 * @param {readonly import('../dsh.js').Workspace[]} workspaces in the page's order
 * @returns {Group<E>[] | undefined} undefined: another shape
 */
export function recognise(tree, workspaces) {
  if (!tree || workspaces.length === 0) return undefined
  const groups = Array.from(tree.children)
  // Sessions outside every workspace stand in one more group at the end.
  if (groups.length !== workspaces.length && groups.length !== workspaces.length + 1) return undefined
  /** @type {Group<E>[]} */
  const found = []
  for (const [i, group] of groups.entries()) {
    const header = group.firstElementChild
    const row = header && workspaceRow(header)
    if (!header || !row) return undefined
    const workspace = workspaces[i]
    if (!workspace) continue
    if (!row.textContent?.includes(workspace.title)) return undefined
    found.push({
      workspaceId: workspace.workspaceId,
      header: /** @type {E} */ (header),
      expanded: row.getAttribute('aria-expanded') === 'true',
    })
  }
  return found
}

/** The row itself, or its hover card around it. @param {Shape} header @returns {Shape | undefined} */
function workspaceRow(header) {
  return [header, header.firstElementChild].find(element =>
    element?.getAttribute('role') === 'treeitem' && element.getAttribute('aria-expanded') !== null) ?? undefined
}

/**
 * Drafts by the workspace they are shown in: the one of their id, else the one of
 * their folder, else none.
 * @param {readonly import('../../wire/types.js').Row[]} rows
 * @param {readonly import('../dsh.js').Workspace[]} workspaces
 */
export function byWorkspace(rows, workspaces) {
  /** @type {Map<string, import('../../wire/types.js').Row[]>} */
  const placed = new Map()
  /** @type {import('../../wire/types.js').Row[]} */
  const gone = []
  const ids = new Set(workspaces.map(workspace => workspace.workspaceId))
  const ofPath = new Map(workspaces.map(workspace => [workspace.path, workspace.workspaceId]))
  for (const row of rows) {
    const id = ids.has(row.workspaceId) ? row.workspaceId : ofPath.get(row.workspacePath)
    if (id === undefined) gone.push(row)
    else placed.set(id, [...placed.get(id) ?? [], row])
  }
  return { placed, gone }
}
