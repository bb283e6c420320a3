/** Reasons in the person's language: why drafts are off, or what does not work. */

/**
 * @typedef {import('../wire/types.js').Reason} Reason
 * @typedef {import('./dsh.js').Translate} Translate
 */

/** The line is there when nothing else of ours is, so its texts are a dictionary of their own. */
export const lineNamespace = 'draftSessionsLine'

/** @type {Record<string, string>} */
const en = {
  tab: 'Drafts',
  off: 'Drafts are off; everything else is as without them.',
  degraded: 'Drafts work, but not all of it.',
  overridden: 'Drafts run on a DSH that they were not tested with, as you chose, at your own risk.',
  rearm: 'Start again',
  dismiss: 'Dismiss',
}

/** @type {Record<string, string>} */
const zh = {
  tab: '草稿',
  off: '草稿功能已关闭，其他一切照常。',
  degraded: '草稿功能可用，但不完整。',
  overridden: '按你的设置，草稿功能正在未经测试的 DSH 版本上运行，风险自负。',
  rearm: '重新启动',
  dismiss: '知道了',
}

export const lineDictionaries = { en, zh }

/** What the host half says in English, by code. @type {Record<string, string>} */
const chinese = {
  HOST_UNKNOWN: '草稿功能没有在这个宿主上测试过。',
  HOST_VERSION_MISMATCH: '草稿功能没有在这个版本上测试过。请使用测试过的版本，或为它发布的插件版本。',
  PACKAGE_MISMATCH: '宿主的一个组件与测试过的版本不同。请使用测试过的版本，或为它发布的插件版本。',
  PACKAGE_MISSING: '没有找到草稿功能所需的宿主组件。请重新安装测试过的版本。',
  PACKAGE_COPIES: '宿主的这个组件不止一份，无法确定运行的是哪一份。请重新安装。',
  FACTS_DISAGREE: '正在运行的版本与已安装的版本不同。请重新安装并重新启动。',
  PROBE_FAILED: '无法查明版本。请查看原因，修复后重新启动。',
  FACT_UNPARSABLE: '找到的版本号无法识别。请重新安装测试过的版本。',
  NODE_MISMATCH: '运行宿主的 Node 版本不受支持。',
  PROTOCOL_MISMATCH: '插件的两部分来自不同的版本。请安装同一版本。',
  FEATURE_MISSING: '宿主缺少草稿功能必需的部分。请使用测试过的版本，或为它发布的插件版本。',
  CAPABILITY_OFF: '宿主缺少其中一项功能所需的部分，其余功能可用。',
  MANIFEST_MISSING: '缺少插件程序的说明文件，因此不启动它。请重新安装插件。',
  MANIFEST_INVALID: '无法读取插件程序的说明文件，因此不启动它。请重新安装插件。',
  BINARY_MISSING: '插件程序缺失或无法读取。请重新安装插件。',
  BINARY_PLATFORM: '插件程序属于另一个平台。请安装适合本机的插件包。',
  CHECKSUM_MISMATCH: '插件程序已损坏或被替换。请重新安装插件。',
  HANDSHAKE_INVALID: '启动的程序不是草稿插件。请重新安装插件。',
  PLUGIN_START_FAILED: '草稿插件无法启动。可以重新启动它，或重新安装插件。',
  PLUGIN_CRASHED: '草稿插件在短时间内多次退出，需要手动重新启动。',
  HOST_SERVICE_MISSING: '宿主缺少草稿功能所需的服务。',
  HOST_SEAM_FAILED: '草稿功能所依赖的宿主部分缺失或出错。',
  OTHER_PLUGIN: '另一个草稿插件已启用，本插件让位于它。请移除其中一个。',
  PAGE_STALE: '这个页面是在宿主或插件更新之前载入的。请重新载入。',
  PAGE_FAULT: '草稿功能的一部分在这个页面中出错。请重新载入。',
}

/**
 * @param {Translate} t of {@link lineNamespace}
 * @param {string} language
 * @param {Reason} reason
 * @returns {{ text: string, facts: string }} facts: the code, what it is about, what was found and expected
 */
export function reasonLine(t, language, { code, subject, expected, found, message }) {
  const text = (language === 'zh' ? chinese[code] : undefined) ?? message
  const compared = [found, expected === '' ? '' : `(${expected})`].filter(Boolean).join(' ')
  return { text: text || t('off'), facts: [code, subject, compared].filter(Boolean).join(' · ') }
}
