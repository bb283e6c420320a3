/** Every text of the page, in English and Chinese. */
import { useSyncExternalStore } from 'react'

export const namespace = 'draftSessions'

/** @type {Record<string, string>} */
const en = {
  'drafts': 'Drafts',
  'drafts.in': 'Drafts in {name}',
  'new': 'New draft',
  'new.hint': 'New draft (Alt+Shift+N)',
  'creating': 'Creating…',
  'empty': 'Empty draft',
  'pinned': 'Pinned',
  'gone': 'Folder not in the list: {path}',
  'undo': 'Undo',
  'dismiss': 'Dismiss',
  'close': 'Close',
  'retry': 'Retry',
  'save.saved': 'Saved',
  'save.saving': 'Saving…',
  'save.not_saved': 'Not saved',
  'save.paused': 'Not saved: drafts are paused',
  'save.because': 'Not saved: {reason}',
  'save.images': 'Images are not kept yet',
  'save.images.long': 'The text is saved. Images are not kept yet: they are lost on reload.',
  'why.TEXT_TOO_LARGE': 'the text is longer than 1 MiB',
  'why.DRAFT_LIMIT_REACHED': 'too many drafts or copies',
  'why.DRAFT_STORAGE_BUSY': 'the draft file is in use',
  'why.DRAFT_STORAGE_IO': 'the draft file cannot be written',
  'why.DRAFT_STORAGE_INVALID': 'the draft file is damaged and was left alone',
  'why.DRAFT_STORAGE_UNSUPPORTED': 'the draft file is of a newer version and was left alone',
  'why.DRAFT_STORAGE_UNCERTAIN': 'it is not certain that the disk has it',
  'why.DRAFT_NOT_FOUND': 'the draft is gone',
  'why.OPERATION_CONFLICT': 'the draft is being sent',
  'why.OPERATION_UNKNOWN': 'the connection to the drafts was lost',
  'why.SESSION_UNAVAILABLE': 'the session could not be created',
  'why.UNREACHABLE': 'no connection',
  'why.retrying': '{why}; trying again',
  'state.error': 'No session: {reason}',
  'state.converting': 'Being sent…',
  'conflicts.one': '1 other version is kept',
  'conflicts.many': '{n} other versions are kept',
  'menu': 'Actions for {title}',
  'menu.rename': 'Rename',
  'menu.pin': 'Pin',
  'menu.unpin': 'Unpin',
  'menu.duplicate': 'Duplicate',
  'menu.up': 'Move up',
  'menu.down': 'Move down',
  'menu.conflicts': 'Other versions',
  'menu.delete': 'Delete',
  'rename.label': 'Title of the draft',
  'toast.deleted': 'Deleted “{title}”',
  'toast.failed': 'That did not work: {why}',
  'toast.noSession': 'The draft is kept, but its session could not be created: {reason}',
  'status.paused': 'Drafts are paused. What you write stays in the composer.',
  'status.rearm': 'Start again',
  'status.storage': 'Drafts cannot be saved: {why}.',
  'notice.detached': 'A message from elsewhere reached the session of “{title}”. The draft keeps its text and has a new session.',
  'notice.recreated': 'The session of “{title}” was gone. The draft keeps its text and has a new session.',
  'notice.late_edit': '“{title}” was written after its draft was sent or deleted, and is now a draft of its own.',
  'notice.conflict_kept': 'Another version of a sent draft was kept as “{title}”.',
  'notice.moved': '“{title}” moved to another workspace.',
  'elsewhere': 'This draft was changed elsewhere.',
  'elsewhere.kept': 'This draft was changed elsewhere; your text is kept as a copy.',
  'elsewhere.show': 'Show it',
  'elsewhere.mine': 'Keep mine',
  'elsewhere.versions': 'Other versions',
  'conflicts.title': 'Other versions of “{title}”',
  'conflicts.about': 'These texts were written while the draft was changed somewhere else. They stay here until you decide.',
  'conflicts.none': 'No other versions.',
  'conflicts.loading': 'Loading…',
  'conflicts.at': 'Written {time}',
  'conflicts.keep': 'Keep as its own draft',
  'conflicts.remove': 'Remove',
  'conflicts.blank': '(empty)',
}

/** @type {Record<string, string>} */
const zh = {
  'drafts': '草稿',
  'drafts.in': '{name} 中的草稿',
  'new': '新建草稿',
  'new.hint': '新建草稿（Alt+Shift+N）',
  'creating': '正在创建…',
  'empty': '空草稿',
  'pinned': '已置顶',
  'gone': '文件夹不在列表中：{path}',
  'undo': '撤销',
  'dismiss': '知道了',
  'close': '关闭',
  'retry': '重试',
  'save.saved': '已保存',
  'save.saving': '正在保存…',
  'save.not_saved': '未保存',
  'save.paused': '未保存：草稿功能已暂停',
  'save.because': '未保存：{reason}',
  'save.images': '暂不保存图片',
  'save.images.long': '文字已保存。暂不保存图片，刷新页面后图片会丢失。',
  'why.TEXT_TOO_LARGE': '文字超过 1 MiB',
  'why.DRAFT_LIMIT_REACHED': '草稿或副本过多',
  'why.DRAFT_STORAGE_BUSY': '草稿文件正被占用',
  'why.DRAFT_STORAGE_IO': '无法写入草稿文件',
  'why.DRAFT_STORAGE_INVALID': '草稿文件已损坏，未作改动',
  'why.DRAFT_STORAGE_UNSUPPORTED': '草稿文件来自更新的版本，未作改动',
  'why.DRAFT_STORAGE_UNCERTAIN': '无法确定是否已写入磁盘',
  'why.DRAFT_NOT_FOUND': '草稿已不存在',
  'why.OPERATION_CONFLICT': '草稿正在发送',
  'why.OPERATION_UNKNOWN': '与草稿服务的连接已断开',
  'why.SESSION_UNAVAILABLE': '无法创建会话',
  'why.UNREACHABLE': '没有连接',
  'why.retrying': '{why}，正在重试',
  'state.error': '没有会话：{reason}',
  'state.converting': '正在发送…',
  'conflicts.one': '保留了 1 个其他版本',
  'conflicts.many': '保留了 {n} 个其他版本',
  'menu': '“{title}”的操作',
  'menu.rename': '重命名',
  'menu.pin': '置顶',
  'menu.unpin': '取消置顶',
  'menu.duplicate': '创建副本',
  'menu.up': '上移',
  'menu.down': '下移',
  'menu.conflicts': '其他版本',
  'menu.delete': '删除',
  'rename.label': '草稿标题',
  'toast.deleted': '已删除“{title}”',
  'toast.failed': '操作未成功：{why}',
  'toast.noSession': '草稿已保留，但无法创建会话：{reason}',
  'status.paused': '草稿功能已暂停，输入的内容会留在输入框中。',
  'status.rearm': '重新启动',
  'status.storage': '无法保存草稿：{why}。',
  'notice.detached': '“{title}”的会话收到了来自别处的消息。草稿文字已保留，并换用了新会话。',
  'notice.recreated': '“{title}”的会话已不存在。草稿文字已保留，并换用了新会话。',
  'notice.late_edit': '“{title}”写于草稿发送或删除之后，现在是一份独立的草稿。',
  'notice.conflict_kept': '已发送草稿的另一个版本保留为“{title}”。',
  'notice.moved': '“{title}”已移到另一个工作区。',
  'elsewhere': '这份草稿已在别处修改。',
  'elsewhere.kept': '这份草稿已在别处修改，你的文字已另存为副本。',
  'elsewhere.show': '查看新版本',
  'elsewhere.mine': '保留我的',
  'elsewhere.versions': '其他版本',
  'conflicts.title': '“{title}”的其他版本',
  'conflicts.about': '这些文字写下时，草稿在别处被修改。在你决定之前会一直保留。',
  'conflicts.none': '没有其他版本。',
  'conflicts.loading': '正在加载…',
  'conflicts.at': '写于 {time}',
  'conflicts.keep': '存为独立草稿',
  'conflicts.remove': '移除',
  'conflicts.blank': '（空）',
}

export const dictionaries = { en, zh }

/**
 * @typedef {import('./dsh.js').Translate} Translate
 */

/**
 * Translate, again on every change of the language.
 * @param {import('./dsh.js').Locale} locale
 * @returns {Translate}
 */
export function useTranslate(locale) {
  useSyncExternalStore(fn => locale.subscribe(fn), () => locale.getSnapshot().revision)
  return locale.bind(namespace)
}

/**
 * Why something failed, in the person's language; the plugin's own words where there
 * are none for the code.
 * @param {Translate} t
 * @param {string} code
 * @param {string} message
 */
export function reasonText(t, code, message) {
  return Object.hasOwn(en, `why.${code}`) ? t(`why.${code}`) : message || code
}
