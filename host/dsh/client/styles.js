/** The look of everything of ours: DSH's own tokens, so that light and dark come by themselves. */

const css = `
.dss-top { flex: none; display: flex; flex-direction: column; padding-right: 12px; min-height: 0; max-height: 55%; }
.dss-rail { flex: none; margin-bottom: 12px; display: flex; flex-direction: column; gap: 12px; }
.dss-bar { flex: none; display: flex; align-items: center; margin-bottom: 6px; }
.dss-bar .dss-new { flex: 1; min-width: 0; margin-bottom: 0; }
.dss-trash { flex: none; display: inline-flex; align-items: center; justify-content: center; width: 28px; height: 28px; padding: 0; margin-left: 2px; border: 0; border-radius: 8px; background: none; color: var(--dsw-alias-label-tertiary); cursor: pointer; }
.dss-trash:hover { background: var(--dsw-alias-interactive-bg-hover); color: var(--dsw-alias-label-primary); }
.dss-new {
  flex: none; display: flex; align-items: center; justify-content: center; gap: 6px; height: 32px; margin: 0 2px 6px;
  padding: 0 16px; box-sizing: border-box; border: 1px dashed var(--dsw-alias-border-l2); border-radius: 12px;
  background: transparent; color: var(--dsw-alias-label-secondary); font: inherit; font-size: 13px; line-height: 20px; cursor: pointer;
}
.dss-new:hover:not(:disabled) { background: var(--dsw-alias-interactive-bg-hover); color: var(--dsw-alias-label-primary); }
.dss-new:disabled { cursor: default; color: var(--dsw-alias-label-dimmed); }
.dss-rail .dss-new { width: 36px; height: 36px; margin: 0; padding: 0; border: 0; border-radius: 50%; color: var(--dsw-alias-label-primary); }

.dss-rail .dss-new { position: relative; }
.dss-count { position: absolute; right: -1px; bottom: -1px; min-width: 14px; padding: 0 3px; box-sizing: border-box; border-radius: 7px; background: var(--dsw-alias-interactive-bg-hover); color: var(--dsw-alias-label-secondary); font-size: 10px; line-height: 14px; text-align: center; }

.dss-list { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; gap: 2px; }
.dss-row { position: relative; display: flex; align-items: center; height: 32px; border-radius: 8px; color: var(--dsw-alias-label-tertiary); user-select: none; animation: dss-in 150ms ease; }
.dss-row:hover, .dss-row.dss-has-menu, .dss-row.dss-is-open { background: var(--dsw-alias-interactive-bg-hover); }
.dss-row.dss-is-open { color: var(--dsw-alias-label-secondary); }
.dss-row.dss-dragging { opacity: 0.5; }
.dss-row.dss-drop-before::before, .dss-row.dss-drop-after::after {
  content: ''; position: absolute; left: 4px; right: 4px; height: 2px; border-radius: 1px; background: var(--dsw-alias-state-business-primary); pointer-events: none;
}
.dss-row.dss-drop-before::before { top: -2px; }
.dss-row.dss-drop-after::after { bottom: -2px; }
.dss-open {
  flex: 1; min-width: 0; display: flex; align-items: center; height: 100%; padding: 0 0 0 8px; border: 0; border-radius: 8px;
  background: none; color: inherit; font: inherit; text-align: left; cursor: pointer;
}
.dss-slot { flex: none; width: 16px; height: 20px; display: inline-flex; align-items: center; justify-content: center; }
.dss-title { flex: 1; min-width: 0; margin: 0 6px 0 4px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 14px; line-height: 20px; }
.dss-faint { font-style: italic; }
:lang(zh) .dss-faint { font-style: normal; opacity: 0.8; }
.dss-marks { flex: none; display: inline-flex; align-items: center; gap: 6px; padding-right: 8px; }
.dss-mark { flex: none; display: inline-flex; align-items: center; justify-content: center; height: 20px; }
.dss-mark:empty { display: none; }
.dss-button { border: 0; padding: 0; background: none; color: inherit; cursor: pointer; border-radius: 4px; }
.dss-warn, .dss-save-not_saved { color: var(--dsw-alias-state-warn-label); }
.dss-danger { color: var(--dsw-alias-state-error-primary); }
.dss-dot { width: 6px; height: 6px; border-radius: 50%; background: currentColor; animation: dss-pulse 1.2s ease-in-out infinite; }
.dss-more {
  flex: none; display: none; align-items: center; justify-content: center; width: 20px; height: 20px; margin-right: 4px; padding: 0; border: 0; border-radius: 4px;
  background: none; color: var(--dsw-alias-label-tertiary); cursor: pointer;
}
.dss-more path { stroke-width: 1.75; }
.dss-more:hover { color: var(--dsw-alias-label-primary); }
.dss-row:hover .dss-more, .dss-row:focus-within .dss-more, .dss-has-menu .dss-more { display: inline-flex; }
.dss-link { border: 0; padding: 0 2px; background: none; font: inherit; font-size: 12px; line-height: 20px; cursor: pointer; color: var(--dsw-alias-label-secondary); border-radius: 4px; text-decoration: underline; text-underline-offset: 2px; }
.dss-link.dss-danger { color: var(--dsw-alias-state-error-primary); }
.dss-rename { flex: 1; min-width: 0; margin: 0 6px 0 22px; padding: 0 4px; border: 1px solid var(--dsw-alias-border-l2); border-radius: 4px; background: var(--dsw-alias-button-elevated-fill); color: var(--dsw-alias-label-primary); font: inherit; font-size: 14px; line-height: 22px; outline: none; }

.dss-section { min-height: 0; display: flex; flex-direction: column; overflow-y: auto; margin-bottom: 6px; }
.dss-heading { margin: 0; padding: 8px 0 8px 4px; font-size: 14px; font-weight: 400; line-height: 20px; color: var(--dsw-alias-label-tertiary); }
.dss-subheading { padding: 2px 8px; font-size: 12px; line-height: 20px; color: var(--dsw-alias-label-caption); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; direction: rtl; text-align: left; }

.dss-notice { flex: none; display: flex; align-items: flex-start; gap: 4px; margin: 0 2px 6px; padding: 6px 8px; border-radius: 8px; background: var(--dsw-alias-interactive-bg-hover); font-size: 12px; line-height: 18px; color: var(--dsw-alias-label-secondary); }
.dss-notice .dss-slot { height: 18px; }
.dss-notice-warn .dss-slot { color: var(--dsw-alias-state-warn-label); }
.dss-notice-text { flex: 1; min-width: 0; overflow-wrap: anywhere; }
.dss-close { flex: none; display: inline-flex; align-items: center; justify-content: center; width: 20px; height: 20px; padding: 0; border: 0; border-radius: 4px; background: none; color: var(--dsw-alias-label-tertiary); cursor: pointer; }
.dss-close:hover { color: var(--dsw-alias-label-primary); }

.dss-menu {
  position: fixed; z-index: 1100; min-width: 168px; padding: 4px; box-sizing: border-box; display: flex; flex-direction: column;
  border: 1px solid var(--dsw-alias-border-inverted); border-radius: 12px; background: var(--dsw-specific-menu); box-shadow: var(--dsw-shadow-lv3);
}
.dss-menu-item { min-height: 34px; padding: 5px 10px; border: 0; border-radius: 10px; background: none; color: var(--dsw-alias-label-primary); font: inherit; font-size: 14px; line-height: 22px; text-align: left; cursor: pointer; outline: none; }
.dss-menu-item:hover:not(:disabled), .dss-menu-item:focus { background: var(--dsw-alias-interactive-bg-hover); }
.dss-menu-item:disabled { color: var(--dsw-alias-label-dimmed); cursor: default; }
.dss-menu-item.dss-danger { color: var(--dsw-alias-state-error-primary); }

.dss-toast {
  position: fixed; z-index: 1100; left: 16px; bottom: 72px; display: flex; align-items: center; gap: 8px; max-width: min(420px, calc(100vw - 32px)); box-sizing: border-box;
  padding: 10px 10px 10px 16px; border: 1px solid var(--dsw-alias-border-inverted); border-radius: 14px; background: var(--dsw-specific-menu); box-shadow: var(--dsw-shadow-lv3);
  color: var(--dsw-alias-label-primary); font-size: 13px; line-height: 20px; pointer-events: auto; animation: dss-in 150ms ease;
}
.dss-toast-text { min-width: 0; overflow: hidden; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow-wrap: anywhere; }
.dss-toast-action { flex: none; border: 0; border-radius: 8px; padding: 2px 8px; background: none; color: var(--dsw-alias-state-business-primary); font: inherit; font-weight: 500; cursor: pointer; }
.dss-toast-action:hover { background: var(--dsw-alias-interactive-bg-hover); }

.dss-composer { display: inline-flex; align-items: center; gap: 12px; font-size: 12px; line-height: 20px; color: var(--dsw-alias-label-caption); white-space: nowrap; }
.dss-composer-state { display: inline-flex; align-items: center; gap: 4px; }
.dss-composer-state svg { flex: none; }
.dss-composer-text { max-width: 240px; overflow: hidden; text-overflow: ellipsis; }
.dss-reason { position: relative; display: inline-flex; min-width: 0; }
.dss-reason-button { display: inline-flex; align-items: center; gap: 4px; min-width: 0; padding: 0 2px; border: 0; border-radius: 4px; background: none; color: inherit; font: inherit; cursor: pointer; }
.dss-reason-whole { position: absolute; z-index: 10; right: 0; bottom: calc(100% + 8px); width: max-content; max-width: min(320px, 70vw); box-sizing: border-box; padding: 8px 12px; border: 1px solid var(--dsw-alias-border-inverted); border-radius: 12px; background: var(--dsw-specific-menu); box-shadow: var(--dsw-shadow-lv3); color: var(--dsw-alias-label-primary); font-size: 13px; line-height: 20px; white-space: normal; overflow-wrap: anywhere; text-align: left; }
.dss-reason-whole[hidden] { display: none; }
.dss-composer-images { color: var(--dsw-alias-state-warn-label); }
.dss-banner {
  display: flex; flex-wrap: wrap; align-items: center; gap: 4px 6px; box-sizing: border-box; align-self: center; padding: 6px 8px 6px 14px; border-radius: 12px;
  width: calc(100% - 2 * var(--dsh-composer-side-clearance, 16px)); max-width: var(--dsh-composer-card-max-width, 800px);
  background: var(--dsw-specific-tip, var(--dsw-alias-interactive-bg-hover)); color: var(--dsw-alias-label-secondary); font-size: 13px; line-height: 20px;
}
.dss-banner-text { flex: 1 1 200px; min-width: 0; }
.dss-quiet { flex: none; border: 1px solid var(--dsw-alias-border-l2); border-radius: 10px; padding: 3px 10px; background: none; color: var(--dsw-alias-label-primary); font: inherit; font-size: 13px; line-height: 20px; cursor: pointer; }
.dss-quiet:hover { background: var(--dsw-alias-interactive-bg-hover); }
.dss-quiet.dss-danger { color: var(--dsw-alias-state-error-primary); }

.dss-dialog { width: min(560px, calc(100vw - 48px)); max-height: min(70vh, 720px); padding: 0; border: 1px solid var(--dsw-alias-border-inverted); border-radius: 24px; background: var(--dsw-alias-bg-layer-2); box-shadow: var(--dsw-shadow-lv3); color: var(--dsw-alias-label-primary); font-size: 14px; line-height: 22px; overflow: auto; }
.dss-dialog::backdrop { background: var(--dsw-alias-bg-mask-1); }
.dss-dialog-body { padding: 20px 24px 24px; }
.dss-dialog-head { display: flex; align-items: flex-start; gap: 12px; }
.dss-dialog-head h2 { flex: 1; min-width: 0; margin: 0; font-size: 16px; line-height: 24px; font-weight: 500; overflow-wrap: anywhere; }
.dss-dialog-about { margin: 8px 0 12px; font-size: 13px; line-height: 20px; color: var(--dsw-alias-label-secondary); }
.dss-copies { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; gap: 12px; }
.dss-copy { padding: 12px; border: 1px solid var(--dsw-alias-border-l2); border-radius: 12px; }
.dss-copy-time { font-size: 12px; line-height: 18px; color: var(--dsw-alias-label-tertiary); }
.dss-copy-text { margin: 6px 0 10px; max-height: 180px; overflow: auto; font: inherit; font-size: 13px; line-height: 20px; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: 6px; }
.dss-deleted { display: flex; align-items: center; gap: 12px; }
.dss-deleted-what { flex: 1; min-width: 0; }
.dss-deleted-title { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 14px; line-height: 20px; }
.dss-deleted-text { margin-top: 4px; overflow: hidden; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; line-height: 18px; color: var(--dsw-alias-label-secondary); }
.dss-dialog-said { margin: 0 0 12px; font-size: 13px; line-height: 20px; }
.dss-dialog-said:empty { display: none; }
.dss-copy-actions { display: flex; justify-content: flex-end; gap: 8px; }

.dss-open:focus-visible, .dss-more:focus-visible, .dss-new:focus-visible, .dss-link:focus-visible, .dss-close:focus-visible, .dss-quiet:focus-visible, .dss-button:focus-visible, .dss-toast-action:focus-visible, .dss-copy-text:focus-visible, .dss-trash:focus-visible, .dss-reason-button:focus-visible {
  outline: 2px solid var(--dsw-alias-state-business-primary); outline-offset: -2px;
}
[data-drafts-group][hidden] { display: none; }
@keyframes dss-in { from { opacity: 0; } }
@keyframes dss-pulse { 50% { opacity: 0.3; } }
@media (prefers-reduced-motion: reduce) { .dss-row, .dss-toast, .dss-dot { animation: none; } }
`

/** @returns {() => void} */
export function installStyles() {
  const style = document.createElement('style')
  style.setAttribute('data-draft-sessions', '')
  style.textContent = css
  document.head.append(style)
  return () => style.remove()
}
