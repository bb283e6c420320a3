export const name = 'shadow-sidebar'
export function apply() {}
