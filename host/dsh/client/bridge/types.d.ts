import type { Call } from '../remote.js'
import type { Bases } from './base.js'
import type { ComposerView } from './composer.js'
import type { Editor } from './editor.js'
import type { Projection } from './projection.js'

/** What the page shows of an editor. */
export interface EditorState {
  save: 'opening' | 'saved' | 'saving' | 'not_saved'
  /** Why it is not saved, else ''. */
  code: string
  message: string
  retrying: boolean
  /** The plugin lacks something that was written here. */
  dirty: boolean
  /** The composer holds images, which are not kept yet. */
  images: boolean
  /** The draft was changed elsewhere and the composer shows the older text. */
  elsewhere: boolean
  /** The conflict copy that holds this editor's text, else ''. */
  conflictId: string
  /** The draft file was replaced, and the draft went back to another text. */
  replaced: boolean
}

/** What an editor needs of the page around it. */
export interface EditorHost {
  call: Call
  bases: Bases
  /** One for each page load. */
  editorId: string
  /** The draft's text could not be shown: what the composer holds was written behind it. */
  unseen?: boolean
  /** Whether somebody is at this session's composer. */
  engaged(): boolean
  /** Whether an input method is composing in this session's composer. */
  composing(): boolean
  /** Whether somebody changed the text of this session's composer by hand so recently. */
  editedWithin(ms: number): boolean
  changed(editor: Editor): void
  /** The session into whose composer DSH's workspace picker has just moved this text. */
  pickedTarget(editor: Editor, raw: string): string | undefined
  moved(editor: Editor, held: Projection, target: string): void
  becameDraft(editor: Editor, draftId: string): void
  gone(editor: Editor): void
  /** How the session and its row stand. */
  standing(editor: Editor): 'blank' | 'converting' | 'started'
}

/** The part of a composer that an editor uses. */
export interface ComposerFace {
  read(): ComposerView
  write(wanted: Projection): boolean
  subscribe(listener: () => void): () => void
}
