/* Before the first paint: the appearance that was chosen, so that nothing flashes. */
try {
  const theme = localStorage.getItem('draft-sessions.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage it is as the system has it.
}
